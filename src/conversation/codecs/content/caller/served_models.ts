/**
 * The models that the content format serves beside those for texts: the image models of the multimodal series. In a
 * file of its own, so that a model is looked up without the codec.
 */
export const SERVED_MODELS = { servesImageModels: true } as const;
