"""Serves the repositories of this directory over TLS on a free port of the loopback, through `git http-backend`.

Prints the port. Whoever does not bring the name and the password of the command line is turned away.
"""

import base64
import http.server
import os
import ssl
import subprocess
import sys

EXPECTED = "Basic " + base64.b64encode(":".join(sys.argv[1:3]).encode()).decode()


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self):
        if self.headers.get("Authorization") != EXPECTED:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="team"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        given = {
            "GIT_PROJECT_ROOT": os.getcwd(),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "REMOTE_USER": sys.argv[1],
            "PATH": os.environ["PATH"],
        }
        backend = subprocess.run(["git", "http-backend"], input=body, env=given, stdout=subprocess.PIPE, check=False)
        head, _, rest = backend.stdout.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in head.decode().split("\r\n")]
        status = next((value for name, value in fields if name == "Status"), "200 OK")
        self.send_response(int(status.split()[0]))
        for name, value in fields:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        self.wfile.write(rest)

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("cert.pem", "key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
