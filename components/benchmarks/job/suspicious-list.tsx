import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/console/frame/format.ts'
import type { ScenarioRow } from '../grid/scenario-grid.ts'
import { type Suspicion, suspicions } from './suspicious.ts'

const words: Record<Suspicion, { title: string; means: string }> = {
  nop_passes: { title: 'Passed by nop', means: 'an agent that does nothing scores 1: the verifier checks too little' },
  oracle_fails: { title: 'Failed by oracle', means: 'the solution that comes with it does not score 1' },
  all_fail: { title: 'Failed by all', means: 'no agent scores anything: too hard, or broken' },
  flaky: { title: 'Flaky', means: 'attempts of one agent disagree' },
  at_timeout: { title: 'At the time limit', means: 'an attempt timed out, or took nine tenths of its limit' },
  all_pass: { title: 'Passed by all', means: 'tells no agent from another' },
}

const namesShown = 12

interface SuspiciousListProps {
  found: Record<Suspicion, readonly ScenarioRow[]>
  total: number
  onSearch: (row: ScenarioRow) => void
}

/** Scenarios of which more may be wrong than the agents; each leads to its line in the grid. */
export const SuspiciousList = ({ found, total, onSearch }: SuspiciousListProps) => {
  const kinds = suspicions.filter((kind) => found[kind].length > 0)
  if (total === 0) return null
  return (
    <section aria-label="Suspicious scenarios" className="space-y-2">
      <h2 className="text-lg font-medium">Suspicious scenarios</h2>
      {kinds.length === 0 && (
        <p className="text-sm text-muted">
          None of {formatCount(total)}: no scenario is passed or failed by all, flaky or at its limit.
        </p>
      )}
      <dl className="grid grid-cols-1 gap-x-8 gap-y-3 lg:grid-cols-2">
        {kinds.map((kind) => (
          <div key={kind} className="min-w-0 border-l-2 border-line pl-3">
            <dt>
              <span className="font-medium">{words[kind].title}</span>{' '}
              <span className="tabular text-muted">
                {formatCount(found[kind].length)} of {formatCount(total)}; {words[kind].means}
              </span>
            </dt>
            <dd className="flex flex-wrap gap-x-3">
              {found[kind].slice(0, namesShown).map((row) => (
                <button
                  key={row.id}
                  type="button"
                  className="min-h-6 max-w-full text-left text-accent hover:underline"
                  onClick={() => onSearch(row)}
                >
                  <VisibleText truncate max={60}>
                    {row.name}
                  </VisibleText>
                </button>
              ))}
              {found[kind].length > namesShown && (
                <span className="text-muted">and {formatCount(found[kind].length - namesShown)} more</span>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
