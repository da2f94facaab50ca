#!/usr/bin/env python
# vim: set fileencoding=cp1252 :
x = "€"
