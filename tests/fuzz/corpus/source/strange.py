# coding: utf-7
+AGE-
# coding: euc-jp
§¢è