import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/browser/format.ts'
import { attemptsDisagree, type ScenarioRow } from '../grid/scenario-grid.ts'
import { type Suspicion, suspicions } from './search-params.ts'
import { repeatWords, suspicionTitles } from './suspicious.ts'

const means: Record<Suspicion, string> = {
  nop_passes: 'an agent that does nothing passes: the verifier checks too little',
  oracle_fails: 'the solution that comes with it does not pass',
  all_fail: 'no agent scores anything: too hard, or broken',
  flaky:
    'the same agent passes and does not: oracle or nop, or more agents than their own rates explain (p below 0.05, by Holm over the scenarios)',
  at_timeout: 'an attempt timed out, or took nine tenths of its limit',
  all_pass: 'tells no agent from another',
}

const namesShown = 12

interface SuspiciousListProps {
  found: Record<Suspicion, readonly ScenarioRow[]>
  rows: readonly ScenarioRow[]
  hasThreshold: boolean
  onSearch: (row: ScenarioRow) => void
  onShowAll: (suspicion: Suspicion) => void
}

/** Scenarios of which more may be wrong than the agents; each leads to its line in the grid. */
export const SuspiciousList = ({ found, rows, hasThreshold, onSearch, onShowAll }: SuspiciousListProps) => {
  const total = rows.length
  const mixed = rows.filter(({ cells }) => cells.some(attemptsDisagree)).length
  const kinds = suspicions.filter((kind) => found[kind].length > 0)
  if (total === 0) return null
  return (
    <section aria-label="Suspicious scenarios" className="space-y-2">
      <h2 className="text-lg font-medium">Suspicious scenarios</h2>
      {!hasThreshold && (
        <p className="text-sm text-muted">Scores leave the range 0 to 1: set a pass threshold to check who passes.</p>
      )}
      {kinds.length === 0 && hasThreshold && (
        <p className="text-sm text-muted">
          None of {formatCount(total)}: no scenario is passed or failed by all, flaky, at its limit, passed by nop or
          failed by oracle.
        </p>
      )}
      <dl className="grid grid-cols-1 gap-x-8 gap-y-3 lg:grid-cols-2">
        {kinds.map((kind) => (
          <div key={kind} className="min-w-0 border-l-2 border-line pl-3">
            <dt>
              <button
                type="button"
                title="Show them in the grid"
                className="min-h-6 font-medium hover:underline"
                onClick={() => onShowAll(kind)}
              >
                {suspicionTitles[kind]}
              </button>{' '}
              <span className="tabular text-muted">
                {formatCount(found[kind].length)} of {formatCount(total)}; {means[kind]}
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
                  {kind === 'flaky' && <span className="tabular text-muted"> {repeatWords(row)}</span>}
                </button>
              ))}
              {found[kind].length > namesShown && (
                <button type="button" className="min-h-6 text-accent hover:underline" onClick={() => onShowAll(kind)}>
                  and {formatCount(found[kind].length - namesShown)} more
                </button>
              )}
            </dd>
          </div>
        ))}
      </dl>
      {mixed > 0 && (
        <p className="text-sm text-muted">
          At {formatCount(mixed)} of {formatCount(total)} scenarios an agent both passes and does not;{' '}
          {found.flaky.length === 0 ? 'chance explains that' : `${formatCount(found.flaky.length)} of them are flaky`}.
        </p>
      )}
    </section>
  )
}
