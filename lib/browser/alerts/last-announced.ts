/** When an alarm of the account was announced last, in whatever tab of this browser; 0 when none was. */
export const lastAnnouncedMs = (account: string): number => {
  try {
    return Number(localStorage.getItem(keyOf(account)) ?? hereMs)
  } catch {
    return hereMs
  }
}

export const setLastAnnounced = (account: string, nowMs: number): void => {
  hereMs = nowMs
  try {
    localStorage.setItem(keyOf(account), String(nowMs))
  } catch {
    // Switched off or full: then each tab knows of itself only.
  }
}

const keyOf = (account: string) => `devdeck.last-announced ${account}`
let hereMs = 0
