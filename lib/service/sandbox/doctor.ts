import { bubblewrap } from './bubblewrap.ts'
import { describeLimits, type LimitKind } from './limits.ts'

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
    network: works ? "this machine's, or none but its own loopback on request" : "this machine's",
  }
}
