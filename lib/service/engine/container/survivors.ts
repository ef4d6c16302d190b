import { createHash } from 'node:crypto'
import type { Survivors } from '../box.ts'
import { type ExecTarget, runInside } from './exec.ts'
import { attachProcess, attachTerminal } from './held.ts'
import { Hold } from './hold.ts'
import { perlPath } from './image-facts.ts'
import { holdPath } from './install.ts'

/** Short enough for the path of a socket. */
export const holdIdOf = (hold: string): string => createHash('sha256').update(hold).digest('hex').slice(0, 32)

// Only what was started from outside has no parent. Prints the holders, and the kernel's count of out-of-memory kills.
const endOthers = `for file in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
  [ -r "$file" ] && grep oom_kill\\  "$file"
done
for stat in /proc/[0-9]*/stat; do
  pid=\${stat#/proc/} pid=\${pid%/stat}
  read -r line 2>/dev/null <"$stat" && set -- \${line##*) } && [ "$2" = 0 ] && [ "$pid" != 1 ] && [ "$pid" != $$ ] || continue
  set -- $(tr '\\0' ' ' <"/proc/$pid/cmdline")
  if [ "$1 $2" = "${perlPath} ${holdPath}" ] && [ "$3" != attach ]; then echo "hold $4"
  else kill -9 "-$pid" 2>/dev/null || kill -9 "$pid"; fi
done 2>/dev/null`

export const createSurvivors = (target: ExecTarget, canHold: boolean): Survivors => ({
  async keepOnly(holds) {
    const { output } = await runInside(target, ['/bin/sh', '-c', endOthers])
    const kept = new Set(holds.map(holdIdOf))
    for (const [name, value = ''] of output.split('\n').map((line) => line.split(' ')))
      if (name === 'oom_kill') target.countKills(Number(value))
      else if (name === 'hold' && !kept.has(value)) await endHeld(target, value)
  },
  process: async (hold, { stdout, stderr }) =>
    canHold ? attachProcess(target, holdIdOf(hold), [stdout, stderr]) : undefined,
  terminal: async (hold, events) => (canHold ? attachTerminal(target, holdIdOf(hold), events) : undefined),
})

const endHeld = async (target: ExecTarget, id: string): Promise<void> => {
  const ignore = () => undefined
  const found = await Hold.attach(target, id, [0, 0], { output: ignore, streamEnded: ignore, exited: ignore })
  found?.hold.release()
}
