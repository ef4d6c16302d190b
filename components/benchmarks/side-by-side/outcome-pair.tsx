import type { ReactNode } from 'react'
import { classes } from '#components/ui/classes.ts'
import { ScrolledText } from '#components/ui/scrolled.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatDurationMs } from '#lib/browser/format.ts'
import type { ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import { rewardsOf } from '#lib/protocol/metrics.ts'
import { threeDecimals } from '#lib/protocol/report-words.ts'
import { BenchmarkState } from '../benchmark-state.tsx'
import { Unknown } from '../figures.tsx'
import { jobViewPath } from '../job/search-params.ts'
import { AgentName } from '../score.tsx'
import { AttemptUsage } from '../usage-text.tsx'
import type { Side } from './side.ts'

const maxRewards = 30

export const OutcomePair = ({ sides }: { sides: readonly [Side, Side] }) => {
  const outcomes = sides.map(({ outcome }) => outcome)
  const rewards = [...new Set(outcomes.flatMap((outcome) => (outcome ? rewardsOf(outcome).map(([name]) => name) : [])))]
  const hasFailure = outcomes.some((outcome) => outcome?.failure_reason)
  return (
    <section aria-label="Outcomes" className="overflow-hidden rounded-md border border-line">
      <div className="grid grid-cols-2 sm:grid-cols-[9rem_minmax(0,1fr)_minmax(0,1fr)]">
        <Row label="" sides={sides} isHead>
          {(outcome, side) => (
            <>
              <AgentName name={side.agent.name} model={side.agent.model} />
              <span className="block text-sm font-normal text-muted">
                <VisibleText max={120}>{side.job.name || side.job.id}</VisibleText>
                {side.attempts.length > 1 && `, attempt ${side.attempt} of ${side.attempts.length}`}
              </span>
              {outcome && (
                <TextLink
                  prefetch={false}
                  className="text-sm font-normal"
                  href={jobViewPath(side.job.id)({
                    scenario: outcome.scenario_definition_id,
                    run: side.agent.key,
                    attempt: side.attempt,
                  })}
                >
                  Open outcome
                </TextLink>
              )}
            </>
          )}
        </Row>
        <Row label="State" sides={sides}>
          {(outcome, side) =>
            outcome ? (
              <>
                <BenchmarkState of="outcome" state={outcome.state} />
                {side.isExcluded && <span className="text-muted"> excluded from all figures</span>}
              </>
            ) : side.attempts.length > 0 ? (
              `No attempt ${side.attempt}: the run has ${side.attempts.length} of this scenario`
            ) : (
              'No outcome for this scenario'
            )
          }
        </Row>
        <Row label="Score" sides={sides}>
          {(outcome) =>
            outcome && (outcome.score == null ? 'None' : <b className="tabular">{threeDecimals(outcome.score)}</b>)
          }
        </Row>
        {rewards.length > 1 &&
          rewards.slice(0, maxRewards).map((reward) => (
            <Row key={reward} label={reward} sides={sides}>
              {(outcome) => {
                const value = outcome && rewardsOf(outcome).find(([name]) => name === reward)?.[1]
                return value === undefined ? (
                  outcome && <Unknown />
                ) : (
                  <span className="tabular">{threeDecimals(value)}</span>
                )
              }}
            </Row>
          ))}
        <Row label="Duration" sides={sides}>
          {(outcome) => outcome && (outcome.duration_ms == null ? <Unknown /> : formatDurationMs(outcome.duration_ms))}
        </Row>
        <Row label="Tokens and cost" sides={sides}>
          {(outcome) => outcome && (outcome.usage ? <AttemptUsage usage={outcome.usage} /> : <Unknown />)}
        </Row>
        {hasFailure && (
          <Row label="Failure" sides={sides}>
            {(outcome) =>
              outcome?.failure_reason ? (
                <>
                  <code className="font-mono">
                    <VisibleText max={200}>{outcome.failure_reason.exception_type}</VisibleText>
                  </code>
                  <ScrolledText className="mt-1 max-h-32">{outcome.failure_reason.exception_message}</ScrolledText>
                </>
              ) : (
                outcome && 'None'
              )
            }
          </Row>
        )}
      </div>
    </section>
  )
}

interface RowProps {
  label: string
  sides: readonly [Side, Side]
  isHead?: boolean
  children: (outcome: ScenarioOutcome | undefined, side: Side) => ReactNode
}

const Row = ({ label, sides, isHead = false, children }: RowProps) => (
  <>
    <div
      className={classes(
        'px-3 py-1.5 text-muted max-sm:col-span-2 max-sm:bg-surface-1 max-sm:py-0.5 max-sm:text-sm',
        isHead && 'max-sm:hidden',
        !isHead && 'border-t border-line',
      )}
    >
      <VisibleText max={80}>{label}</VisibleText>
    </div>
    {sides.map((side, at) => (
      <div
        // biome-ignore lint/suspicious/noArrayIndexKey: two sides
        key={at}
        className={classes(
          'min-w-0 border-line px-3 py-1.5 break-words',
          at === 1 ? 'border-l' : 'sm:border-l',
          isHead ? 'font-medium' : 'sm:border-t',
        )}
      >
        {children(side.outcome, side)}
      </div>
    ))}
  </>
)
