# Names: queues pause action type
curl -X POST https://api.trigger.dev/api/v1/queues/send/pause \
  -H "Authorization: Bearer $TRIGGER_SECRET_KEY" -H "Content-Type: application/json" \
  -d '{"type":"task","action":"pause"}'
