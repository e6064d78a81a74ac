#!/bin/sh
# Makes the user, and the secrets that are missing. What is there is never replaced.
set -eu

if ! getent group sepad >/dev/null; then
	groupadd --system sepad
fi
if ! getent passwd sepad >/dev/null; then
	useradd --system --gid sepad --home-dir /var/lib/sepad --no-create-home --shell /usr/sbin/nologin sepad
fi

umask 077
mkdir -p /etc/sepad
random() { head -c "$1" /dev/urandom | base64 | tr -d '\n'; }
[ -s /etc/sepad/encryption-keys ] || printf 'k1:%s\n' "$(random 32)" >/etc/sepad/encryption-keys
[ -s /etc/sepad/admin-token ] || printf '%s\n' "$(random 33)" >/etc/sepad/admin-token
[ -s /etc/sepad/metrics-token ] || printf '%s\n' "$(random 33)" >/etc/sepad/metrics-token
chown root:sepad /etc/sepad /etc/sepad/encryption-keys /etc/sepad/admin-token /etc/sepad/metrics-token
chmod 0750 /etc/sepad
chmod 0640 /etc/sepad/encryption-keys /etc/sepad/admin-token /etc/sepad/metrics-token
if [ -f /etc/sepad/sepad.env ]; then
	chown root:sepad /etc/sepad/sepad.env
	chmod 0640 /etc/sepad/sepad.env
fi

if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	# An upgrade goes on with the new program; a first installation waits for its settings.
	systemctl try-restart sepad.service
fi
