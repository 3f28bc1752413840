#!/bin/sh
# Lists models, then makes a chat completion: first whole, then streamed. -f ends with an error for an error status.
set -eu
address=${SWITCHYARD_ADDRESS:-http://127.0.0.1:8787}
model=${SWITCHYARD_MODEL:-sandbox/chat-1}

echo "Models:"
curl -fsS "$address/v1/models" | tr ',' '\n' | grep -o '"id":"[^"]*"'

chat() {
  curl -fsS "$@" "$address/v1/chat/completions" \
    -H "Authorization: Bearer $SWITCHYARD_KEY" -H "Content-Type: application/json"
}

echo "Whole:"
chat -d "{\"model\":\"$model\",\"messages\":[{\"role\":\"user\",\"content\":\"Say hello\"}]}"

echo
echo "Streamed:"
chat -N -d "{\"model\":\"$model\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"Say hello\"}]}"
