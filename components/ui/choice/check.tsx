import { classes } from '../classes.ts'

interface CheckProps {
  label: string
  checked: boolean
  onCheck: (isOn: boolean) => void
  small?: boolean
}

export const Check = ({ label, checked, onCheck, small = false }: CheckProps) => (
  <label
    className={classes(
      'inline-flex cursor-pointer items-center gap-1.5 text-muted',
      small ? 'min-h-6 text-sm' : 'min-h-8',
    )}
  >
    <input
      type="checkbox"
      className="size-4 accent-(--accent-solid)"
      checked={checked}
      onChange={({ target }) => onCheck(target.checked)}
    />
    {label}
  </label>
)
