#!/bin/sh
# On removal, not on an upgrade (deb says "upgrade", rpm counts what is left).
set -eu
case "${1:-}" in
remove | purge | 0)
	if [ -d /run/systemd/system ]; then
		systemctl disable --now sepad-backup.timer sepad.service
	fi
	;;
esac
