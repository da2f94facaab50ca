# coding=gb18030
x = "你好"
