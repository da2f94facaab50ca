# -*- coding: latin-1 -*-
x = "éÿ"
y = 1