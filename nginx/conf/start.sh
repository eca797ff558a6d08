# Runs its arguments, an NGINX in a container, after what its configuration cannot do. /tmp is in memory; only NGINX's user can enter /tmp/edge.
set -eu
umask 077
mkdir -p /tmp/edge

# TRUSTED_PROXIES: addresses or networks of proxies in front, with commas.
for proxy in $(echo "${TRUSTED_PROXIES:-}" | tr , ' '); do
  echo "$proxy 1;"
done > /tmp/edge/trusted-proxies.conf

# The certificate in /etc/nginx/tls, named as certbot names its files. Without one, a new one for localhost, for a week. It cannot
# sign others, so a client that trusts it trusts it for localhost only.
if [ -e /etc/nginx/tls/fullchain.pem ] || [ -e /etc/nginx/tls/privkey.pem ]; then
  ln -sf /etc/nginx/tls/fullchain.pem /etc/nginx/tls/privkey.pem /tmp/edge/
  openssl x509 -checkend 0 -noout -in /tmp/edge/fullchain.pem > /tmp/edge/check ||
    echo 'The certificate in /etc/nginx/tls has expired or cannot be read: renew it.' >&2
else
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 7 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1 -addext basicConstraints=critical,CA:FALSE -out /tmp/edge/fullchain.pem -keyout /tmp/edge/privkey.pem
fi

exec "$@"
