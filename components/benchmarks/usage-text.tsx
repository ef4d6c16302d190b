import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/browser/format.ts'
import type { AgentUsage, RunUsage } from '#lib/contract/agent-usage.ts'
import type { AgentFigures } from '#lib/protocol/reports.ts'

export const UsageText = ({ figures }: { figures: AgentFigures }) => {
  const { n_input_tokens, n_output_tokens, cost_usd, cost_per_solved, n_with_tokens, n_with_cost, reasons } = figures
  const { n_completed, n_failed, n_timeout, n_cancelled, n_other } = figures
  const all = n_completed + n_failed + n_timeout + n_cancelled + n_other
  const tokens = sumOf(n_input_tokens, n_output_tokens)
  if (tokens === null && cost_usd === null)
    return (
      <span className="text-muted" title={reasons.n_input_tokens ?? reasons.cost_usd}>
        Not reported
      </span>
    )
  const n = tokens === null ? n_with_cost : n_with_tokens
  const isSame = tokens === null || cost_usd === null || n_with_cost === n_with_tokens
  return (
    <span className="tabular block leading-4 whitespace-nowrap" title={tokenText(figures)}>
      {tokens === null ? '–' : formatTokens(tokens)} · {cost_usd === null ? '–' : formatUsd(cost_usd)}
      {(n < all || !isSame) && (
        <span className="block text-xs leading-4 text-muted">
          {isSame
            ? `over ${formatCount(n)} of ${formatCount(all)}`
            : `over ${formatCount(n_with_tokens)} · ${formatCount(n_with_cost)} of ${formatCount(all)}`}
        </span>
      )}
      {cost_usd !== null && (
        <span
          className="block text-xs leading-4 text-muted"
          title={reasons.cost_per_solved ?? 'Cost of all attempts by the number of scenarios that pass'}
        >
          {cost_per_solved === null ? '–' : formatUsd(cost_per_solved)} per solved
        </span>
      )}
    </span>
  )
}

export const AttemptUsage = ({ usage }: { usage: AgentUsage }) => {
  const { n_input_tokens, n_output_tokens, cost_usd, unknown_because } = usage
  if (n_input_tokens == null && n_output_tokens == null && cost_usd == null)
    return (
      <span className="text-muted">
        Not reported
        {unknown_because && (
          <>
            : <VisibleText max={200}>{unknown_because}</VisibleText>
          </>
        )}
      </span>
    )
  return (
    <span className="tabular">
      {tokenText(usage)} ·{' '}
      {cost_usd == null ? <span className="text-muted">cost not reported</span> : formatUsd(cost_usd)}
    </span>
  )
}

export const RunUsageText = ({ usage, all }: { usage: RunUsage; all: number | null }) => {
  const { n_with_tokens, n_with_cost } = usage
  if (n_with_tokens + n_with_cost === 0) return <AttemptUsage usage={usage} />
  const of = (n: number) => `${formatCount(n)}${all === null ? '' : ` of ${formatCount(all)}`}`
  return (
    <>
      <AttemptUsage usage={usage} />{' '}
      <span className="tabular text-muted">({reportedText(of, n_with_tokens, n_with_cost)} scenario runs)</span>
    </>
  )
}

const reportedText = (of: (n: number) => string, tokens: number, cost: number): string => {
  if (tokens === cost) return `reported by ${of(tokens)}`
  if (cost === 0) return `tokens reported by ${of(tokens)}`
  if (tokens === 0) return `cost reported by ${of(cost)}`
  return `tokens reported by ${of(tokens)}, cost by ${of(cost)}`
}

const sumOf = (a: number | null | undefined, b: number | null | undefined): number | null =>
  a == null && b == null ? null : (a ?? 0) + (b ?? 0)

/** `12,345 in (2,000 cached), 678 out` */
const tokenText = ({ n_input_tokens, n_cache_tokens, n_output_tokens }: AgentUsage): string =>
  [
    n_input_tokens == null ? 'input not reported' : `${formatCount(n_input_tokens)} in`,
    ...(n_cache_tokens == null ? [] : [`${formatCount(n_cache_tokens)} of them cached`]),
    n_output_tokens == null ? 'output not reported' : `${formatCount(n_output_tokens)} out`,
  ].join(', ')

export const formatTokens = (tokens: number): string =>
  new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 }).format(tokens)

/** `$1.23`, or two significant digits below one cent. */
export const formatUsd = (usd: number): string =>
  usd === 0 || usd >= 0.01
    ? `$${usd.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
    : `$${Number(usd.toPrecision(2))}`
