import type { Operation } from '#lib/protocol/roles.ts'
import { classes } from '../classes.ts'
import { useRefusal } from '../refusals.ts'
import { Tooltip } from '../tooltip.tsx'

interface CheckProps {
  label: string
  checked: boolean
  onCheck: (isOn: boolean) => void
  small?: boolean
  needs?: Operation
}

export const Check = ({ label, checked, onCheck, small = false, needs }: CheckProps) => {
  const disabledReason = useRefusal(needs)
  const check = (
    <label
      className={classes(
        'inline-flex items-center gap-1.5 text-muted',
        disabledReason === null ? 'cursor-pointer' : 'cursor-not-allowed opacity-60',
        small ? 'min-h-6 text-sm' : 'min-h-8',
      )}
    >
      <input
        type="checkbox"
        className="size-4 accent-(--accent-solid)"
        checked={checked}
        aria-disabled={disabledReason !== null || undefined}
        onChange={({ target }) => disabledReason === null && onCheck(target.checked)}
      />
      {label}
      {disabledReason !== null && <span className="sr-only">: {disabledReason}</span>}
    </label>
  )
  return disabledReason === null ? check : <Tooltip content={disabledReason}>{check}</Tooltip>
}
