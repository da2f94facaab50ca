# coding: shift_jis
x = "日本"
