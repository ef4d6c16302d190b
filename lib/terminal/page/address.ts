export interface TerminalTarget {
  devboxId: string
  name: string
  /** Of a link to follow by, instead of the devbox's own terminal. */
  followToken?: string | undefined
}

/** Of the page's own console, without a query. */
export const terminalUrl = ({ devboxId, name, followToken }: TerminalTarget): string => {
  const path =
    followToken === undefined
      ? `/api/terminals/${encodeURIComponent(devboxId)}/${encodeURIComponent(name)}`
      : `/api/follow/${encodeURIComponent(followToken)}`
  return `${location.origin.replace(/^http/, 'ws')}${path}`
}
