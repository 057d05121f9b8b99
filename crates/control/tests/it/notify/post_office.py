"""A server of mail that is not ours (aiosmtpd): says its port, then each letter it took as a line of JSON.

The first argument is JSON: tls (none, starttls, implicit), certificate, key, user, password, drop (how many letters are read and then
hung up on without an answer), stall (how many letters to the recipient `stalled`, or to anybody, are read and then never answered), refuse (a
recipient who gets a 550), full (a recipient who gets a 452), strip (STARTTLS is not offered).
"""

import asyncio
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult

wanted = json.loads(sys.argv[1])


def say(**what):
    print(json.dumps(what), flush=True)


class Office:
    dropped = 0
    stalled = 0

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address == wanted.get("refuse"):
            return "550 no such mailbox"
        if address == wanted.get("full"):
            say(kind="full")
            return "452 mailbox is full"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        kind = "taken"
        if Office.dropped < wanted.get("drop", 0):
            Office.dropped += 1
            kind = "dropped"
        elif Office.stalled < wanted.get("stall", 0) and wanted.get("stalled", envelope.rcpt_tos[0]) in envelope.rcpt_tos:
            Office.stalled += 1
            kind = "stalled"
        tls = session.ssl is not None or wanted["tls"] == "implicit"
        who = session.auth_data.login.decode() if session.auth_data else None
        letter = envelope.content.decode("utf-8")
        say(kind=kind, sender=envelope.mail_from, to=envelope.rcpt_tos, letter=letter, tls=tls, who=who)
        if kind == "dropped":
            server.transport.abort()
            return None
        if kind == "stalled":
            await asyncio.Event().wait()
        return "250 taken"


def authenticator(server, session, envelope, mechanism, data):
    right = data.login.decode() == wanted["user"] and data.password.decode() == wanted["password"]
    say(kind="login", right=right, tls=session.ssl is not None)
    return AuthResult(success=right, handled=True, auth_data=data)


def context():
    made = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    made.load_cert_chain(wanted["certificate"], wanted["key"])
    return made


def protocol():
    options = {"decode_data": False, "hostname": "post.example"}
    if wanted["tls"] == "starttls":
        options["tls_context"] = context()
        options["require_starttls"] = True
    if wanted.get("user"):
        options.update(authenticator=authenticator, auth_required=True, auth_require_tls=wanted["tls"] == "starttls")
    return SMTP(Office(), **options)


async def main():
    secure = context() if wanted["tls"] == "implicit" else None
    server = await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", 0, ssl=secure)
    say(kind="open", port=server.sockets[0].getsockname()[1])
    await server.serve_forever()


asyncio.run(main())
