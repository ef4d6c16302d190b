import { Banner } from '#components/ui/banner.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { GateKind, GateResult } from '#lib/protocol/reports.ts'
import { Choice, NumberField } from '../choice.tsx'
import type { CompareView } from './search-params.ts'

type Gate = Pick<CompareView, 'gate' | 'margin'>

interface GateChoiceProps extends Gate {
  onChange: (gate: Gate) => void
}

const defaultMargin = 0.05

export const GateChoice = ({ gate, margin, onChange }: GateChoiceProps) => (
  <>
    <Choice
      label="Gate"
      value={gate ?? ''}
      options={options}
      onChange={(chosen) =>
        onChange({
          gate: (chosen || undefined) as GateKind | undefined,
          margin: chosen === 'non_inferior' ? defaultMargin : undefined,
        })
      }
    />
    {gate === 'non_inferior' && (
      <NumberField
        label="Margin"
        value={margin}
        onChange={(chosen) => onChange({ gate, margin: chosen !== undefined && chosen > 0 ? chosen : margin })}
      />
    )}
  </>
)

export const GateBanner = ({ gate: { passed, decided, sentence } }: { gate: GateResult }) => {
  const [result = '', ...reasons] = sentence.split('. ')
  return (
    <Banner
      tone={passed ? 'ok' : decided ? 'danger' : 'attention'}
      role="status"
      title={<VisibleText max={300}>{result}</VisibleText>}
    >
      <VisibleText max={4000}>{reasons.join('. ')}</VisibleText>
    </Banner>
  )
}

const options: { value: GateKind | ''; label: string }[] = [
  { value: '', label: 'None' },
  { value: 'no_regression', label: 'No significant regression' },
  { value: 'superior', label: 'Significantly better' },
  { value: 'non_inferior', label: 'Not worse by a margin' },
]
