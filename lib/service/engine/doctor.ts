import { bubblewrap } from './bubblewrap/bubblewrap.ts'
import { machine, systemProblem } from './bubblewrap/system.ts'
import { describeLimits, type LimitKind } from './limits.ts'
import { slirpProblem } from './network/outbound.ts'
import { machinePython } from './python.ts'

export interface IsolationReport {
  bubblewrap: { works: boolean; problem?: string }
  limits: { kind: LimitKind; detail: string }
  network: string
  /** What system the trials of Harbor's tasks have. */
  trials: string
}

/** How far devboxes of this user can be isolated and limited on this machine, found out by trying. */
export const describeIsolation = async (): Promise<IsolationReport> => {
  const problem = await bubblewrap.problem()
  const works = problem === undefined
  return {
    bubblewrap: works ? { works } : { works, problem },
    limits: describeLimits(works ? 'bubblewrap' : 'none'),
    network: works ? networkWords(slirpProblem()) : "this machine's",
    trials: works ? await trialWords() : "none: trials of Harbor's tasks need bubblewrap",
  }
}

const trialWords = async () => {
  const problem = await systemProblem()
  if (problem !== undefined)
    return `this machine's system, read-only, as one user: tasks that need more say so (${problem})`
  const { hasUsers } = await machine()
  const python = (await machinePython())?.bin ?? "the system's"
  return `a writable system of its own for each trial, as root ${hasUsers ? 'with users' : 'without other users: tasks that need them say so'}; Python: ${python}`
}

const networkWords = (problem: string | undefined) =>
  problem === undefined
    ? 'one of its own for each devbox, outbound by slirp4netns'
    : `one of its own for each devbox, outbound through an HTTP proxy only (${problem})`
