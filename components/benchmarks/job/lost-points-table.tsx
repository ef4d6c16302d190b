import { Scrolled } from '#components/ui/scrolled.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import { failureKindOf, pointsLost } from '#lib/protocol/failure-groups.ts'
import { agentLabel, byMean, threeDecimals } from '#lib/protocol/report-words.ts'
import type { FailureKind } from '#lib/protocol/reports.ts'
import { meanOf } from '#lib/statistics/means.ts'
import { countedScore, type ScenarioRow } from '../grid/scenario-grid.ts'
import { type AgentRow, shortLabels } from '../job-figures.ts'

const causes: Record<FailureKind, string> = { wrong: 'Wrong answers', exception: 'Exceptions', timeout: 'Timeouts' }

/** Patterns distinguish the causes without color. */
const fills: Record<FailureKind, string> = {
  wrong: 'bg-(--text-muted)',
  exception: 'bg-[repeating-linear-gradient(135deg,var(--danger)_0_3px,var(--danger-bg)_3px_6px)]',
  timeout: 'bg-[radial-gradient(var(--attention)_1.2px,var(--attention-bg)_1.4px)] bg-size-[5px_5px]',
}

export const LostPointsTable = ({ rows, agents }: { rows: readonly ScenarioRow[]; agents: readonly AgentRow[] }) => {
  const labels = shortLabels(agents)
  const lost = agents
    .map((agent, at) => ({ agent, label: labels[at] ?? '', points: lostPoints(rows, at) }))
    .sort(
      byMean(
        ({ agent }) => agent.name,
        ({ points }) => points && { mean: points.score },
      ),
    )
  if (lost.every(({ points }) => points === null)) return null
  return (
    <section aria-label="Lost points" className="space-y-2">
      <h2 className="text-lg font-medium">Lost points</h2>
      <p className="max-w-prose text-sm text-muted">
        How far each agent's mean is below 1, by cause. Failures and timeouts count as 0; canceled attempts don't count.
      </p>
      <Scrolled className="overflow-x-auto">
        <table className="w-full min-w-2xl text-left">
          <caption className="sr-only">Points lost by agent and cause</caption>
          <thead>
            <tr className="text-sm text-muted">
              <Head>Agent</Head>
              <Head>Score and loss, 0 to 1</Head>
              <Head end>Score</Head>
              {lossCauses.map((cause) => (
                <Head end key={cause}>
                  <span className="inline-flex items-center gap-1.5">
                    <span
                      aria-hidden
                      className={`size-2.5 forced-color-adjust-none border border-line-strong ${fills[cause]}`}
                    />
                    {causes[cause]}
                  </span>
                </Head>
              ))}
              <Head end>
                <span title="Part of the lost points, where the environment differs from the task's requirements">
                  Environment differs
                </span>
              </Head>
              <Head end>
                <span title="Not counted">Canceled</span>
              </Head>
            </tr>
          </thead>
          <tbody className="tabular">
            {lost.map(({ agent, label, points }) => (
              <tr key={agent.key} className="border-b border-line">
                <th scope="row" title={agentLabel(agent)} className="border-b border-line px-3 py-1.5 font-medium">
                  <VisibleText max={80} className="block min-w-44 wrap-anywhere">
                    {label}
                  </VisibleText>
                </th>
                {points === null ? (
                  <td colSpan={7} className="border-b border-line px-3 py-1.5 text-muted">
                    No counted outcome
                  </td>
                ) : (
                  <>
                    <td className="w-1/5 border-b border-line px-3 py-1.5">
                      <span
                        aria-hidden
                        className="flex h-3 w-full min-w-32 forced-color-adjust-none border border-line-strong"
                      >
                        <span style={{ width: `${points.score * 100}%` }} className="bg-(--score-high)" />
                        {lossCauses.map((cause) => (
                          <span
                            key={cause}
                            style={{ width: `${points.points[cause] * 100}%` }}
                            className={fills[cause]}
                          />
                        ))}
                      </span>
                    </td>
                    <Value>
                      {threeDecimals(points.score)}{' '}
                      <span className="text-muted">(n = {formatCount(points.scenarios)})</span>
                    </Value>
                    {lossCauses.map((cause) => (
                      <Value key={cause}>
                        <Lost points={points.points[cause]} attempts={points.attempts[cause]} />
                      </Value>
                    ))}
                    <Value>
                      {points.differing.attempts > 0 && <span className="text-muted">of which </span>}
                      <Lost {...points.differing} />
                    </Value>
                    <Value>
                      <span className="text-muted">
                        {points.cancelled === 0 ? '0' : formatCountOf(points.cancelled, 'attempt')}
                      </span>
                    </Value>
                  </>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolled>
    </section>
  )
}

const Value = ({ children }: { children: React.ReactNode }) => (
  <td className="border-b border-line px-3 py-1.5 text-right whitespace-nowrap">{children}</td>
)

const Lost = ({ points, attempts }: { points: number; attempts: number }) =>
  attempts === 0 ? (
    <span className="text-muted">0</span>
  ) : (
    <>
      −{points.toFixed(3)} <span className="text-muted">({formatCountOf(attempts, 'attempt')})</span>
    </>
  )

const Head = ({ end, children }: { end?: boolean; children: React.ReactNode }) => (
  <th scope="col" className={`h-8 border-b border-line px-3 font-medium whitespace-nowrap ${end ? 'text-right' : ''}`}>
    {children}
  </th>
)

export const lossCauses = ['wrong', 'exception', 'timeout'] as const satisfies readonly FailureKind[]

/** Points lost with failures scored as 0: `score` and the points of all causes sum to 1. */
interface LostPoints {
  score: number
  scenarios: number
  points: Record<FailureKind, number>
  attempts: Record<FailureKind, number>
  differing: { points: number; attempts: number }
  cancelled: number
}

export const lostPoints = (rows: readonly ScenarioRow[], at: number): LostPoints | null => {
  const all = rows.map(({ cells }) => cells[at]?.attempts ?? [])
  const scenarios = all.filter((attempts) => attempts.some((each) => countedScore(each, 'zero') !== null)).length
  if (scenarios === 0) return null
  const points = { wrong: 0, exception: 0, timeout: 0 }
  const attempts = { wrong: 0, exception: 0, timeout: 0 }
  const differing = { points: 0, attempts: 0 }
  for (const [attempt, lost] of pointsLost(all, { is_unit_range: true, lower_is_better: false }) ?? []) {
    const cause = failureKindOf(attempt)
    points[cause] += lost
    attempts[cause]++
    if (!attempt.environment_differs) continue
    differing.points += lost
    differing.attempts++
  }
  const cancelled = all.flat().filter(({ state }) => state === 'CANCELED').length
  // Computed like the report, to the last digit.
  const score = meanOf(rows.flatMap(({ cells }) => cells[at]?.score.zero ?? [])) ?? 0
  return { score, scenarios, points, attempts, differing, cancelled }
}
