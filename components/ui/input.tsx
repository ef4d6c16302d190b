import type { LucideIcon as Icon } from 'lucide-react'
import { type ComponentProps, type KeyboardEvent, useSyncExternalStore } from 'react'
import { classes } from './classes.ts'

export interface InputProps extends ComponentProps<'input'> {
  mono?: boolean
  icon?: Icon
}

/** Most inputs take names, keys and commands, which browsers shouldn't complete or correct. */
const verbatim = { autoComplete: 'off', autoCapitalize: 'none', spellCheck: false }

export const Input = ({ mono, icon: Icon, className, readOnly = false, ...rest }: InputProps) => {
  const look = classes(controlClasses, 'h-8 px-2.5', mono && 'font-mono', Icon && 'pl-8')
  const control = { ...verbatim, ...rest, readOnly: !useTakesKeys() || readOnly }
  if (!Icon) return <input {...control} className={classes(look, className)} />
  return (
    <span className={classes('relative inline-flex w-full', className)}>
      <Icon aria-hidden className="pointer-events-none absolute top-2 left-2.5 size-4 text-muted" />
      <input {...control} className={look} />
    </span>
  )
}

export interface TextareaProps extends ComponentProps<'textarea'> {
  mono?: boolean
}

export const Textarea = ({ mono, className, ...rest }: TextareaProps) => (
  <textarea
    rows={3}
    {...verbatim}
    {...rest}
    className={classes(controlClasses, 'px-2.5 py-1.5', mono && 'font-mono', className)}
  />
)

/** False until hydration, which would discard text typed before it. */
export const useTakesKeys = () =>
  useSyncExternalStore(
    never,
    () => true,
    () => false,
  )
const never = () => () => undefined

/** For `onKeyDown`: Ctrl+Enter submits the form from a textarea. */
export const submitOnCtrlEnter = (event: KeyboardEvent<HTMLInputElement | HTMLTextAreaElement>) => {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
  event.preventDefault()
  event.currentTarget.form?.requestSubmit()
}

export const controlClasses =
  'w-full min-w-0 rounded-md border border-line-strong bg-surface-0 text-text placeholder:text-muted hover:border-muted ' +
  'focus-visible:border-focus focus-visible:outline-offset-0 aria-invalid:border-danger disabled:bg-surface-2 disabled:text-muted'
