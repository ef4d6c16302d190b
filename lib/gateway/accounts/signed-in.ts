/** What the sealed cookie holds. Only the console's server ever sees it open. */
export interface SignedIn {
  sid: string
  /** The same for all accounts that one browser added beside each other. */
  browser?: string | undefined
  /** Who signed on, as their provider names them; nobody is known to have entered a key. */
  person?: string | undefined
  account: { id: string; name: string; isolation?: string | undefined }
  api_key: string
  service: string
  created_at: number
  renewed_at: number
}
