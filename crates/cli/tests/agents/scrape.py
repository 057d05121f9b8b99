"""A tool: fetches pages of a site over HTTP and writes what is for sale on them as CSV.

The site is the folder `site` of the workspace, served on the loopback of the cage: there is no other network.
"""

import csv
import functools
import html.parser
import http.server
import os
import sys
import threading
import urllib.request


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Offer(html.parser.HTMLParser):
    """The texts of the elements of class `name` and `price`."""

    def __init__(self):
        super().__init__()
        self.within, self.found = None, {}

    def handle_starttag(self, _, attributes):
        self.within = dict(attributes).get("class")

    def handle_data(self, text):
        if self.within in ("name", "price"):
            self.found.setdefault(self.within, text.strip())

    def handle_endtag(self, _):
        self.within = None


def main(first, last, into):
    serve = functools.partial(Quiet, directory="site")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    os.makedirs(os.path.dirname(into), exist_ok=True)
    with open(into, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        for page in range(first, last + 1):
            offer = Offer()
            with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/{page}.html") as answer:
                offer.feed(answer.read().decode())
            table.writerow([page, offer.found["name"], offer.found["price"]])


main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
