interface CheckProps {
  label: string
  checked: boolean
  onCheck: (isOn: boolean) => void
}

/** A choice beside its words, in a bar. */
export const Check = ({ label, checked, onCheck }: CheckProps) => (
  <label className="inline-flex min-h-8 cursor-pointer items-center gap-1.5 text-muted">
    <input
      type="checkbox"
      className="size-4 accent-(--accent-solid)"
      checked={checked}
      onChange={({ target }) => onCheck(target.checked)}
    />
    {label}
  </label>
)
