import { useId, useState } from 'react'
import { Input } from '#components/ui/input.tsx'
import { Select } from '#components/ui/select.tsx'
import { metricLabel } from '#lib/protocol/report-words.ts'
import type { Direction, FailureRule, Report, ReportChoice } from '#lib/protocol/reports.ts'
import { defaultDirection, isBuiltIn } from '#lib/statistics/metrics.ts'

interface ChoiceProps {
  label: string
  value: string
  options: readonly { value: string; label: string }[]
  onChange: (value: string) => void
}

const maxLabelLength = 120

export const Choice = ({ label, value, options, onChange }: ChoiceProps) => {
  const id = useId()
  return (
    <div data-choice="" className="flex max-w-full flex-col gap-1">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      <Select
        id={id}
        value={value}
        options={options.map((each) => ({ ...each, label: each.label.slice(0, maxLabelLength) }))}
        onChange={({ target }) => onChange(target.value)}
        className="max-w-96"
      />
    </div>
  )
}

interface ScoreChoiceProps {
  report: Pick<Report, 'metric' | 'metrics' | 'threshold' | 'is_unit_range' | 'lower_is_better'>
  choice: ReportChoice
  onChange: (part: Pick<ReportChoice, 'metric' | 'direction' | 'threshold'>) => void
}

/** A threshold is only offered if scores are outside 0 to 1, or if lower is better. */
export const ScoreChoice = ({ report, choice: { threshold }, onChange }: ScoreChoiceProps) => {
  const { metric, metrics, is_unit_range, lower_is_better } = report
  const hasRewards = metrics.some((each) => !isBuiltIn(each))
  const own = { value: '', label: hasRewards ? "Each job's own" : 'Score' }
  const options = metrics.map((each) => ({ value: each, label: metricLabel(each) }))
  return (
    <>
      {options.length > 0 && (
        <Choice
          label="Metric"
          value={metric ?? ''}
          options={metric === null || !hasRewards ? [own, ...options] : options}
          onChange={(chosen) => onChange({ metric: chosen || undefined, direction: undefined, threshold: undefined })}
        />
      )}
      <Choice
        label="Better"
        value={lower_is_better ? 'lower' : 'higher'}
        options={directions}
        onChange={(chosen) =>
          onChange({ direction: chosen === defaultDirection(metric) ? undefined : (chosen as Direction) })
        }
      />
      {(!is_unit_range || lower_is_better || threshold !== undefined) && (
        <NumberField label="Pass threshold" value={threshold} onChange={(chosen) => onChange({ threshold: chosen })} />
      )}
    </>
  )
}

const directions = [
  { value: 'higher', label: 'Higher' },
  { value: 'lower', label: 'Lower' },
]

interface NumberFieldProps {
  label: string
  value: number | undefined
  onChange: (value: number | undefined) => void
}

/** Applied on Enter or blur, as each keystroke would be another value. */
export const NumberField = ({ label, value, onChange }: NumberFieldProps) => {
  const id = useId()
  const [draft, setDraft] = useState<string | null>(null)
  const apply = () => {
    if (draft === null) return
    setDraft(null)
    onChange(draft.trim() === '' || !Number.isFinite(Number(draft)) ? undefined : Number(draft))
  }
  return (
    <div data-choice="" className="flex w-28 flex-col gap-1">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      <Input
        id={id}
        type="number"
        step="any"
        placeholder="None"
        value={draft ?? `${value ?? ''}`}
        onChange={({ target }) => setDraft(target.value)}
        onKeyDown={({ key }) => key === 'Enter' && apply()}
        onBlur={apply}
      />
    </div>
  )
}

export const RuleChoice = ({ rule, onChange }: { rule: FailureRule; onChange: (rule: FailureRule) => void }) => (
  <Choice
    label="Failures and timeouts"
    value={rule}
    options={ruleOptions}
    onChange={(failures) => onChange(failures as FailureRule)}
  />
)

export const ruleOptions: { value: FailureRule; label: string }[] = [
  { value: 'zero', label: 'Failures score 0' },
  { value: 'leave_out', label: 'Exclude failures' },
]
