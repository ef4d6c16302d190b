import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/browser/format.ts'
import { attemptsDisagree, type ScenarioRow } from '../grid/scenario-grid.ts'
import { type Suspicion, suspicions } from './search-params.ts'
import { passCounts, suspicionTitles } from './suspicious.ts'

const reasons: Record<Suspicion, string> = {
  nop_passes: 'doing nothing passes, so the verifier checks too little',
  oracle_fails: 'its own solution fails',
  all_fail: 'no agent scores above 0: too hard or broken',
  flaky: 'a control both passes and fails, or more agents do than their pass rates explain (Holm-adjusted p < 0.05)',
  at_timeout: 'an attempt timed out or used 90% of its limit',
  all_pass: 'does not distinguish agents',
}

const namesShown = 12

interface SuspiciousListProps {
  found: Record<Suspicion, readonly ScenarioRow[]>
  rows: readonly ScenarioRow[]
  hasThreshold: boolean
  onSearch: (row: ScenarioRow) => void
  onShowAll: (suspicion: Suspicion) => void
}

export const SuspiciousList = ({ found, rows, hasThreshold, onSearch, onShowAll }: SuspiciousListProps) => {
  const total = rows.length
  const mixed = rows.filter(({ cells }) => cells.some(attemptsDisagree)).length
  const kinds = suspicions.filter((kind) => found[kind].length > 0)
  if (total === 0) return null
  return (
    <section aria-label="Suspicious scenarios" className="space-y-2">
      <h2 className="text-lg font-medium">Suspicious scenarios</h2>
      {!hasThreshold && (
        <p className="text-sm text-muted">Scores are outside 0 to 1. Set a pass threshold to check passes.</p>
      )}
      {kinds.length === 0 && hasThreshold && (
        <p className="text-sm text-muted">None of {formatCount(total)} scenarios.</p>
      )}
      <dl className="grid grid-cols-1 gap-x-8 gap-y-3 lg:grid-cols-2">
        {kinds.map((kind) => (
          <div key={kind} className="min-w-0 border-l-2 border-line pl-3">
            <dt>
              <button
                type="button"
                title="Show in grid"
                className="min-h-6 font-medium hover:underline"
                onClick={() => onShowAll(kind)}
              >
                {suspicionTitles[kind]}
              </button>{' '}
              <span className="tabular text-muted">
                {formatCount(found[kind].length)} of {formatCount(total)}; {reasons[kind]}
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
                  {kind === 'flaky' && <span className="tabular text-muted"> {passCounts(row)}</span>}
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
          An agent both passes and fails in {formatCount(mixed)} of {formatCount(total)} scenarios;{' '}
          {found.flaky.length === 0 ? 'chance explains this' : `${formatCount(found.flaky.length)} are flaky`}.
        </p>
      )}
    </section>
  )
}
