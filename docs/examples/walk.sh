#!/bin/sh
# Walks one action through the API with curl and jq, from a proposal to the record.
# It needs `placet` in the path and a control plane whose home is `home`:
#
#   placet init --home home --address 127.0.0.1:7070
#   placet --home home serve &
#   sh docs/examples/walk.sh
set -e
URL=http://127.0.0.1:7070
ADMIN=$(cat home/tokens/admin.token)

call() { # call TOKEN METHOD PATH [BODY [curl options…]]
  local token=$1 method=$2 path=$3 body=${4-}; shift 3; [ $# -gt 0 ] && shift
  if [ -n "$body" ]; then set -- "$@" -H 'Content-Type: application/json' -d "$body"; fi
  curl -sS -X "$method" "$URL$path" -H "Authorization: Bearer $token" "$@"
}

# A project, a locked scope, and three identities. Each token is shown once.
PROJECT=$(call $ADMIN POST /api/v1/projects '{"name":"alpha"}' | jq -r .id)
call $ADMIN POST /api/v1/projects/$PROJECT/scopes \
  '{"name":"lab","rules":{"allow":["report.txt"],"targets":["10.0.0.0/24"],"tools":["sh","sha256sum"]}}' | jq -c .
identity() { call $ADMIN POST /api/v1/identities "{\"name\":\"$1\",\"roles\":[\"$2\"],\"projects\":[\"$PROJECT\"]}"; }
TOM=$(identity tom agent); AGENT=$(echo "$TOM" | jq -r .token); AGENT_ID=$(echo "$TOM" | jq -r .identity.id)
REVIEWER=$(identity ada reviewer | jq -r .token)
WORKER=$(identity w1 worker | jq -r .token)

# A run with a plan. A reviewer approves exactly this plan, the operator starts it, the agent attaches.
RUN=$(call $ADMIN POST /api/v1/runs "{\"project\":\"$PROJECT\",\"goal\":\"report on notes.txt\",\"scope\":\"lab\",
  \"agent\":\"$AGENT_ID\",\"plan\":[\"count the lines\"]}" -H 'Idempotency-Key: run-1')
RUN_ID=$(echo "$RUN" | jq -r .id)
call $REVIEWER POST /api/v1/runs/$RUN_ID/approve '{}' -H "If-Match: \"$(echo "$RUN" | jq -r .review)\"" | jq -r .status
call $ADMIN POST /api/v1/runs/$RUN_ID/start '{}' | jq -r .status
call $AGENT POST /api/v1/runs/$RUN_ID/attach '{}' | jq -r .status

# The agent uploads the file its action needs, under its digest, and proposes.
printf 'one\ntwo\nthree\n' > notes.txt
DIGEST=sha256:$(sha256sum notes.txt | cut -d' ' -f1)
call $AGENT PUT /api/v1/projects/$PROJECT/evidence/$DIGEST '' --data-binary @notes.txt | jq -c .
ACTION=$(call $AGENT POST /api/v1/runs/$RUN_ID/actions "{\"tool\":\"sh\",
  \"arguments\":[\"wc -l < notes.txt > report.txt\"],
  \"files\":[{\"path\":\"notes.txt\",\"digest\":\"$DIGEST\",\"size_bytes\":14}],
  \"outputs\":[\"report.txt\"],\"justification\":\"counting lines\"}" -H 'Idempotency-Key: act-1')
echo "$ACTION" | jq -c '{status, tier: .verdict.tier, risk: .verdict.risk, reasons: [.verdict.reasons[].rule]}'
ACTION_ID=$(echo "$ACTION" | jq -r .id)

# The reviewer looks at everything that will be done, and approves that.
call $REVIEWER GET /api/v1/queue | jq -r '.actions[].id'
SEEN=$(call $REVIEWER GET /api/v1/actions/$ACTION_ID | tee /dev/stderr | jq -r .review)
call $REVIEWER POST /api/v1/actions/$ACTION_ID/approve '{}' -H "If-Match: \"$SEEN\"" | jq -r .status

# A worker executes it. It needs its token and the public permit key, and nothing else.
PLACET_TOKEN=$WORKER placet --server $URL work --permit-key home/keys/permit.pub & WORKER_PID=$!
until call $AGENT GET /api/v1/actions/$ACTION_ID | jq -e '.status == "SUCCEEDED"' > /dev/null; do sleep 0.2; done
kill $WORKER_PID

# Evidence: the manifest, then one piece of it.
call $AGENT GET /api/v1/actions/$ACTION_ID/evidence | tee manifest.json | jq -c '{exit, items: [.items[].name]}'
REPORT=$(jq -r '.items[] | select(.name == "out/report.txt").digest' manifest.json)
call $AGENT GET /api/v1/projects/$PROJECT/evidence/$REPORT

# The agent is done; a person accepts the results.
call $AGENT POST /api/v1/runs/$RUN_ID/finish '{"summary":"counted"}' | jq -r .status
SEEN=$(call $REVIEWER GET /api/v1/runs/$RUN_ID | jq -r .review)
call $REVIEWER POST /api/v1/runs/$RUN_ID/complete '{}' -H "If-Match: \"$SEEN\"" | jq -r .status

# The record.
call $ADMIN GET /api/v1/runs/$RUN_ID/audit | jq -c '.rows[] | [.seq, .event, .approval_status]'
call $ADMIN GET /api/v1/ledger/head | jq -r '.note, .key'
