password: str = 'hunter22'
url = "postgres://bob:pw@db/x"
h = {'Authorization': 'Bearer abcdef.ghijkl-12345', "api_key": b'x'}
K = '''-----BEGIN PRIVATE KEY-----
abc
-----END PRIVATE KEY-----'''
c = 'Server=db;Password=p;'
