import { useId } from 'react'
import { Select } from '#components/ui/select.tsx'
import type { FailureRule } from '#lib/wire/reports.ts'

interface ChoiceProps {
  label: string
  value: string
  options: readonly { value: string; label: string }[]
  onChange: (value: string) => void
}

const longestLabel = 120

/** One of a few, with its label above it. */
export const Choice = ({ label, value, options, onChange }: ChoiceProps) => {
  const id = useId()
  return (
    <div className="flex max-w-full flex-col gap-1">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      <Select
        id={id}
        value={value}
        options={options.map((each) => ({ ...each, label: each.label.slice(0, longestLabel) }))}
        onChange={({ target }) => onChange(target.value)}
        className="max-w-96"
      />
    </div>
  )
}

/** What a failure or a timeout counts. */
export const RuleChoice = ({ rule, onChange }: { rule: FailureRule; onChange: (rule: FailureRule) => void }) => (
  <Choice
    label="Failures and timeouts"
    value={rule}
    options={ruleOptions}
    onChange={(failures) => onChange(failures as FailureRule)}
  />
)

const ruleOptions: { value: FailureRule; label: string }[] = [
  { value: 'zero', label: 'count 0' },
  { value: 'leave_out', label: 'are left out' },
]
