#!/bin/bash
# Makes access logs of real servers under a small load (sources in weblog/). usage: weblog.sh NAME > output
here=$(cd "$(dirname "$0")" && pwd)
settings() { # SERVER: what nginx is to do in $d
  cat > $d/nginx.conf <<CONF
worker_processes 1; pid $d/nginx.pid; error_log $d/error.log;
events { worker_connections 128; }
http {
  access_log $d/access.log combined;
  set_real_ip_from 127.0.0.1; real_ip_header X-Forwarded-For;
  client_body_temp_path $d/t; proxy_temp_path $d/t; fastcgi_temp_path $d/t; uwsgi_temp_path $d/t; scgi_temp_path $d/t;
  $1
}
CONF
}
case $1 in
  access-log-nginx-shop)
    d=/srv/shopweb; rm -rf $d; mkdir -p $d; cp "$here"/weblog/shop_*.py $d/
    settings 'server { listen 127.0.0.1:8090; location / { proxy_pass http://127.0.0.1:8091; proxy_read_timeout 1s; } }'
    # The backend is stopped for a second in the middle: nginx answers 502.
    python3 $d/shop_backend.py & b=$!
    sleep 0.5; TZ=UTC nginx -c $d/nginx.conf 2>/dev/null
    (sleep 9; kill $b; sleep 0.4; exec python3 $d/shop_backend.py) & b2=$!
    python3 $d/shop_load.py 3000 >&2
    kill $b2 "$(cat $d/nginx.pid)" 2>/dev/null; sleep 0.3
    cat $d/access.log; rm -rf $d ;;
  access-log-nginx-media)
    d=/srv/mediaweb; rm -rf $d; mkdir -p $d; cp "$here"/weblog/media_*.py $d/
    settings 'server { listen 127.0.0.1:8094; location /login { return 429; } location / { proxy_pass http://127.0.0.1:8095; } }'
    python3 $d/media_backend.py & b=$!
    sleep 0.5; TZ=UTC nginx -c $d/nginx.conf 2>/dev/null
    python3 $d/media_load.py >&2
    kill $b "$(cat $d/nginx.pid)" 2>/dev/null; sleep 0.3
    cat $d/access.log; rm -rf $d ;;
  access-log-python-artefacts)
    d=/srv/files; rm -rf $d; mkdir -p $d; cd $d && TZ=UTC python3 "$here/weblog/files_server.py" 2>&1; rm -rf $d ;;
esac
