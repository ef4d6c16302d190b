import { mutationOptions, queryOptions } from '@tanstack/react-query'
import { consoleUrl, fetchConsoleJson, sendToConsole } from '#lib/browser/api/console-api.ts'
import { type Exclusion, type ExclusionList, type Label, type LabelList, markLimits } from '#lib/protocol/marks.ts'
import { invalidateReports } from '../job/queries.ts'

const markKey = ['marks'] as const

const list = <List>(kind: 'exclusions' | 'labels', jobId: string) =>
  queryOptions({
    queryKey: [...markKey, kind, jobId],
    queryFn: ({ signal }) => fetchConsoleJson<List>(consoleUrl(`/api/judgment/${kind}`, { job_id: jobId }), signal),
  })

export const markQueries = {
  exclusions: (jobId: string) => list<ExclusionList>('exclusions', jobId),
  labels: (jobId: string) => list<LabelList>('labels', jobId),
}

export type ExcludedItem = Pick<Exclusion, 'scenario_id' | 'attempt_id'>
export type LabeledItem = Pick<Label, 'scenario_id' | 'attempt_id'>

type NewMarks<Item> = Pick<Label, 'job_id' | 'note'> & { items: readonly Item[] }
type NewExclusions = NewMarks<ExcludedItem> & Pick<Exclusion, 'reason'>
type NewLabels = NewMarks<LabeledItem> & Pick<Label, 'label'>

const send = async (kind: 'exclusions' | 'labels', { items, ...mark }: NewExclusions | NewLabels) => {
  const own = items.map(({ scenario_id, attempt_id }) => ({ scenario_id, attempt_id }))
  for (let at = 0; at < own.length; at += markLimits.perRequest)
    await sendToConsole('POST', `/api/judgment/${kind}`, { ...mark, items: own.slice(at, at + markLimits.perRequest) })
}

const remove = (kind: 'exclusions' | 'labels', id: string) =>
  sendToConsole('DELETE', `/api/judgment/${kind}/${encodeURIComponent(id)}`)

const change = <Input>(mutationFn: (input: Input) => Promise<unknown>) =>
  mutationOptions({
    mutationFn,
    // Also after an error: some of the items may be stored, or someone else removed the mark.
    onSettled: (_answer, _error, _input, _result, { client }) =>
      Promise.all([client.invalidateQueries({ queryKey: markKey }), invalidateReports(client)]),
  })

export const markMutations = {
  exclude: () => change((marks: NewExclusions) => send('exclusions', marks)),
  restore: () => change((id: string) => remove('exclusions', id)),
  label: () => change((marks: NewLabels) => send('labels', marks)),
  unlabel: () => change((id: string) => remove('labels', id)),
}
