import type { AgentIdentity } from '#lib/protocol/reports.ts'
import { isControl } from '#lib/statistics/figures.ts'
import { HttpError } from '../http/handle-request.ts'

/**
 * The run each agent is compared with. Of a job that is the baseline it is the run of the same agent and model, the second
 * of them with the second, or the only one it has; the runs of that job itself are compared with nothing, unless it stands
 * alone: then with its first that does more than check the tasks.
 */
export const baselineChoice = (agents: readonly AgentIdentity[], jobs: readonly string[], baseline: string) => {
  const ofBaseline = agents.filter(({ job_id }) => job_id === baseline)
  const isRun = agents.some(({ benchmark_run_id }) => benchmark_run_id === baseline)
  if (!isRun && !jobs.includes(baseline))
    throw new HttpError('invalid_argument', 'baseline must be one of the jobs, or a run of them that has an outcome', {
      field: 'baseline',
    })
  if (isRun) return () => baseline
  const first = ofBaseline.find(({ agent_name }) => !isControl(agent_name)) ?? ofBaseline[0]
  if (jobs.length === 1) return () => first?.benchmark_run_id ?? null
  return (agent: AgentIdentity): string | null => {
    if (agent.job_id === baseline) return null
    const isSame = (each: AgentIdentity) => each.agent_name === agent.agent_name && each.model_name === agent.model_name
    const place = agents
      .filter((each) => each.job_id === agent.job_id && isSame(each))
      .findIndex(({ benchmark_run_id }) => benchmark_run_id === agent.benchmark_run_id)
    const same = ofBaseline.filter(isSame)
    return (same[place] ?? same[0] ?? (ofBaseline.length === 1 ? first : undefined))?.benchmark_run_id ?? null
  }
}
