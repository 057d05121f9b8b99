"""Checks that one entry is in the ledger: check_proof.py PROOF, a file of `placet ledger prove --to`."""

import base64
import hashlib
import json
import sys

with open(sys.argv[1]) as file:
    proof = json.load(file)
digest = hashlib.sha256(b"\0" + proof["entry"].encode()).digest()
index, last = proof["seq"], proof["size"] - 1
for step in map(bytes.fromhex, proof["proof"]):  # RFC 9162, section 2.1.3.2
    if index & 1 or index == last:
        digest = hashlib.sha256(b"\1" + step + digest).digest()
        while not index & 1 and index:
            index, last = index >> 1, last >> 1
    else:
        digest = hashlib.sha256(b"\1" + digest + step).digest()
    index, last = index >> 1, last >> 1
root = proof["note"].split("\n")[2]
if last != 0 or base64.b64encode(digest).decode() != root:
    sys.exit("the entry is not in the ledger")
print("the entry is in the ledger")
