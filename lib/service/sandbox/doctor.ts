import { bubblewrap } from './bubblewrap.ts'
import { describeLimits, type LimitKind } from './limits.ts'
import { slirpProblem } from './network/outbound.ts'

export interface IsolationReport {
  bubblewrap: { works: boolean; problem?: string }
  limits: { kind: LimitKind; detail: string }
  network: string
}

/** How far devboxes of this user can be isolated and limited on this machine, found out by trying. */
export const describeIsolation = async (): Promise<IsolationReport> => {
  const problem = await bubblewrap.problem()
  const works = problem === undefined
  return {
    bubblewrap: works ? { works } : { works, problem },
    limits: describeLimits(works ? 'bubblewrap' : 'none'),
    network: works ? networkWords(slirpProblem()) : "this machine's",
  }
}

const networkWords = (problem: string | undefined) =>
  problem === undefined
    ? 'one of its own for each devbox, outbound by slirp4netns'
    : `one of its own for each devbox, outbound through an HTTP proxy only (${problem})`
