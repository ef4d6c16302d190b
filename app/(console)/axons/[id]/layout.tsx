import { AxonDetail } from '#components/axons/axon-detail.tsx'
import { axonQueries } from '#components/axons/queries.ts'
import { detailPage } from '../../read-page.tsx'

const axon = detailPage('Axon', AxonDetail, axonQueries.get, (api, id) => api.axons.get({ params: { id } }))

export const generateMetadata = axon.title
export default axon.page
