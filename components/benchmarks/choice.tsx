import { useId, useState } from 'react'
import { Input } from '#components/ui/input.tsx'
import { Select } from '#components/ui/select.tsx'
import type { FailureRule, Report, ReportChoice } from '#lib/protocol/reports.ts'

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
  report: Pick<Report, 'metric' | 'metrics' | 'threshold' | 'is_unit_range'>
  threshold: number | undefined
  onChange: (part: Pick<ReportChoice, 'metric'> | Pick<ReportChoice, 'threshold'>) => void
}

/** Shown only if there are several metrics, or scores outside 0 to 1. */
export const ScoreChoice = ({ report, threshold, onChange }: ScoreChoiceProps) => {
  const { metric, metrics, is_unit_range } = report
  const options = metrics.map((each) => ({ value: each, label: each }))
  return (
    <>
      {(options.length > 1 || (metric === null && options.length > 0)) && (
        <Choice
          label="Metric"
          value={metric ?? ''}
          options={metric === null ? [{ value: '', label: "Each job's own" }, ...options] : options}
          onChange={(chosen) => onChange({ metric: chosen || undefined })}
        />
      )}
      {(!is_unit_range || threshold !== undefined) && (
        <ThresholdField value={threshold} onChange={(chosen) => onChange({ threshold: chosen })} />
      )}
    </>
  )
}

interface ThresholdFieldProps {
  value: number | undefined
  onChange: (value: number | undefined) => void
}

/** Applied on Enter or blur, as each keystroke would be another threshold. */
const ThresholdField = ({ value, onChange }: ThresholdFieldProps) => {
  const id = useId()
  const [draft, setDraft] = useState<string | null>(null)
  const apply = () => {
    if (draft === null) return
    setDraft(null)
    onChange(draft.trim() === '' || !Number.isFinite(Number(draft)) ? undefined : Number(draft))
  }
  return (
    <div data-choice="" className="flex flex-col gap-1">
      <label htmlFor={id} className="font-medium">
        Pass threshold
      </label>
      <Input
        id={id}
        type="number"
        step="any"
        placeholder="None"
        className="w-28"
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
