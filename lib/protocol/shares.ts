export const shareKinds = ['job', 'comparison', 'trend'] as const
export type ShareKind = (typeof shareKinds)[number]

/** A public read-only link to a report. */
export interface Share {
  id: string
  kind: ShareKind
  /** Parameters of the report's request; `job` or `jobs` names what is shared. */
  params: Readonly<Record<string, string>>
  /** Names of the jobs when the link was created. */
  title: string
  /** Whether the log archives of the runs can be downloaded. */
  logs: boolean
  by: string
  created_ms: number
  expires_ms: number
  n_opened: number
  last_opened_ms: number | null
}

/** Response of `POST /api/shares`. Only this response has the link. */
export interface CreatedShare {
  id: string
  url: string
  expires_ms: number
}

/** Response of `GET /api/shares`, newest first. */
export interface ShareList {
  shares: readonly Share[]
  /** False if the operator turned links off. */
  enabled: boolean
}

export const maxShareDays = 365
export const defaultShareDays = 30
