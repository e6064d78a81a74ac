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
# make_secret FILE PREFIX writes a secret of 33 random bytes, or as many as named.
make_secret() {
	if [ -s "$1" ]; then return; fi
	text=$(head -c "${3:-33}" /dev/urandom | base64 | tr -d '\n')
	if [ "${#text}" -lt 44 ]; then
		echo "sepad: there is no randomness to make $1 of" >&2
		exit 1
	fi
	printf '%s%s\n' "$2" "$text" >"$1"
}
make_secret /etc/sepad/encryption-keys k1: 32
make_secret /etc/sepad/admin-token ""
make_secret /etc/sepad/metrics-token ""
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
