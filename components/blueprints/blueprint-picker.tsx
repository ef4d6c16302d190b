import { useQuery } from '@tanstack/react-query'
import { RecordPicker } from '#components/list/record-picker.tsx'
import { blueprintQueries } from './queries.ts'

interface BlueprintPickerProps {
  label: string
  hint?: string
  /** An id or a name. */
  value: string
  onPick: (id: string) => void
  error: string | undefined
}

/** Only blueprints that devboxes can start from. */
export const BlueprintPicker = ({ value, onPick, ...picker }: BlueprintPickerProps) => {
  const { data } = useQuery(blueprintQueries.choices(''))
  const picked = data?.rows.find(({ id, name }) => value === id || value === name)
  return (
    <RecordPicker
      {...picker}
      query={blueprintQueries.choices}
      chosen={value === '' ? [] : [picked ?? { id: value, name: value }]}
      onChoose={([chosen]) => onPick(chosen?.id ?? '')}
      none="No blueprint is ready."
    />
  )
}
