import { Select } from '#components/ui/select.tsx'

interface FilterSelectProps<Value extends string> {
  label: string
  /** No filter: "Any state". */
  any: string
  value: Value | undefined
  /** The word of each value. */
  words: Record<Value, string>
  onFilter: (value: Value | undefined) => void
}

/** Narrows a list to one of a few values. */
export const FilterSelect = <Value extends string>({
  label,
  any,
  value,
  words,
  onFilter,
}: FilterSelectProps<Value>) => (
  <Select
    aria-label={label}
    className="w-40 max-sm:flex-1 max-sm:basis-32"
    value={value ?? ''}
    onChange={({ target }) => onFilter((target.value || undefined) as Value | undefined)}
    options={[
      { value: '', label: any },
      ...Object.entries<string>(words).map(([each, word]) => ({ value: each, label: word })),
    ]}
  />
)
