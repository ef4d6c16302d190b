import { recordActivity } from './activity/activity.ts'
import { updateAlerts } from './alerts/alert-books.ts'
import { createProxy } from './proxy/proxy.ts'
import { isMissingOperation, learnFromCall } from './support/service-support.ts'

/** The proxy with every subject's hook. */
export const apiProxy = createProxy([recordActivity, updateAlerts, learnFromCall], isMissingOperation)
