# For scripts that start servers with port 0: which port a process listens at. Source it.
# shellcheck shell=sh

# listening_port PID: prints the port once PID listens, within 10 s; fails if it ends before.
listening_port()
{
	tries=0
	while [ "$tries" -lt 500 ] && kill -0 "$1" 2>/dev/null; do
		sockets=$(find "/proc/$1/fd" -type l -printf '%l\n' 2>/dev/null |
			sed -n 's/^socket:\[\(.*\)\]$/\1/p')
		# State 0A is LISTEN; the local address is hexadecimal.
		port=$(awk -v sockets="$sockets" '
			BEGIN {
				n = split(sockets, inode, "\n")
				for (i = 1; i <= n; i++)
					ours[inode[i]] = 1
			}
			$4 == "0A" && $10 in ours {
				sub(/.*:/, "", $2)
				print $2
				exit
			}' "/proc/$1/net/tcp" 2>/dev/null)
		if [ -n "$port" ]; then
			echo $((0x$port))
			return 0
		fi
		tries=$((tries + 1))
		sleep 0.02
	done
	return 1
}
