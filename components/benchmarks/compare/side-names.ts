import { cutEnd } from '#components/ui/text.ts'
import type { AgentIdentity, CompareReport } from '#lib/wire/reports.ts'
import { agentLabel } from '../job-figures.ts'

/** How a side of a comparison is called: by its agent, and by its job where there are several. */
export const sideNames = ({ jobs }: Pick<CompareReport, 'jobs'>) => {
  const jobNames = new Map(jobs.map(({ id, name }) => [id, name]))
  return ({ agent_name, model_name, job_id }: AgentIdentity): string => {
    const agent = agentLabel({ name: agent_name, model: model_name })
    return jobs.length > 1 ? `${agent} in ${cutEnd(jobNames.get(job_id) ?? job_id, 120)}` : agent
  }
}
