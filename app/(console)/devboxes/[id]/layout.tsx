import { DevboxDetail } from '#components/devboxes/detail.tsx'
import { devboxQueries } from '#components/devboxes/queries.ts'
import { detailPage } from '../../read-page.tsx'

const devbox = detailPage('Devbox', DevboxDetail, devboxQueries.get, (api, id) => api.devboxes.get({ params: { id } }))

export const generateMetadata = devbox.title
export default devbox.page
