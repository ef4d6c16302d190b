import { removeGroupOf, removeGroupsOf } from '../cgroup.ts'
import type { markers } from '../environment.ts'
import { findProcesses, signal, waitUntil } from '../processes.ts'

/** Kills processes found by cgroup, environment, session and descent; without cgroups, one that changes all escapes. `except` are devboxes. */
export const killProcesses = async (marked: Marks, except?: ReadonlySet<string>): Promise<void> => {
  const { DEVDECK_SERVICE_ID: serviceId, DEVDECK_DEVBOX_ID: devboxId } = marked
  await (devboxId === undefined ? removeGroupsOf(serviceId) : removeGroupOf({ serviceId, devboxId }))
  await waitUntil(() => {
    const found = findProcesses({ ...marked }, { ...(except && { except }) })
    for (const pid of found) signal(pid, 'SIGKILL')
    return found.length === 0
  })
}

type Marks = Pick<ReturnType<typeof markers>, 'DEVDECK_SERVICE_ID'> & Partial<ReturnType<typeof markers>>
