#!/bin/bash
# Deploys a canary, watches it, rolls back. The services are played by deploy.py.
step() { echo; echo "--- $1 ($(date -u -d @$((1741230000 + SEC)) +%H:%M:%S)) ---"; SEC=$((SEC + ${2:-30})); }
SEC=0
echo "deploy 2025.03.2 to shop-prod, mode canary"
step inventory 4;  python3 deploy.py inventory
step upload 95;    python3 deploy.py upload
step migrate 61;   python3 deploy.py migrate
step "watch canary web-01" 240; python3 deploy.py logs
step health 2;     python3 deploy.py health
if [ $? -ne 0 ]; then
  step rollback 12
  echo "canary web-01 is unhealthy: 31 errors per minute, limit is 5"
  echo "rolling back web-01 to 2025.03.1"
  echo "migrations are not rolled back: 39 applied since 2025.03.1"
  cat <<J
{"event":"deploy_failed","release":"2025.03.2","stage":"health","host":"web-01","errors_per_minute":31,"rolled_back":true,"schema":"0219"}
J
  echo "deploy: FAILED after $((SEC)) s"
  exit 4
fi
