"""The words of the report about method; each formula with its source."""

from evenhand.core.errors import N_

METHOD = (
    (
        "Bias_c",
        N_(
            "= log10(p(male word) / p(female word)) at the masked keyword of a sentence (SlguSet paper,"
            " equation 1; after Kurita et al. 2019, whose measure divides each probability by a prior)."
            " The male word is always in the numerator. A word of several characters has one mask for each"
            " character that differs; its probability is the product over the masks."
        ),
    ),
    (
        "Bias_man, Bias_woman, Model_bias",
        N_(
            "= the mean of the positive values, the mean magnitude of the negative values, and the mean of"
            " these two (SlguSet paper, equations 2 and 3). With the denominator 'all', each sum is"
            " divided by the number of all finite values (journal paper). A value of 0 belongs to neither"
            " side. ln = log10 × 2.3026; only ln is consistent with the paper's Table 4."
        ),
    ),
    (
        N_("Pair mass"),
        N_(
            "= p(male word) + p(female word). Where it is small, the model prefers other words and the"
            " ratio means little."
        ),
    ),
    (
        N_("Prior-corrected"),
        N_("= Bias_c minus the mean Bias_c of its keyword pair in the same model and data: what the context adds."),
    ),
    (
        N_("Variance"),
        N_(
            "= the variance of Bias_c divided into the shares between mask counts, between pairs with the"
            " same mask count, and within pairs."
        ),
    ),
    (
        N_("Side AUC"),
        N_(
            "= the probability that, of two sentences of one pair, the one whose source had the male word"
            " has the larger Bias_c; pairs are pooled with weights equal to their number of such"
            " comparisons. 0.5: the context tells the model nothing."
        ),
    ),
    (
        N_("Intervals"),
        N_(
            "95%. Signed mean, side AUC and correlations: over all subsets of the stems of the word pairs"
            " (男/女 is the stem of seven pairs), because sentences of a pair share its preference; with"
            " fewer than 6 stems there is no interval (docs/nulls.md). Bias_man, Bias_woman, Model_bias"
            " and mean magnitude: t on the jackknife over sentences, or over articles where the scores"
            " name them; above 400 units, from the spread of resamples on the log scale"
            " (docs/coverage.md). These intervals apply to other contexts of these word pairs only."
        ),
    ),
)
UNDEFINED = N_(
    "Undefined values (a missing probability, or 0 for both words) and infinite values (0 for one word)"
    " enter no mean. They are counted here and never treated as 0."
)
WORDS = N_(
    "Topic words of sentences that lean obviously to one side, without keywords. The weight says that a"
    " word is common on a side, not that the sides differ. An asterisk marks words whose share differs"
    " between the sides (permutation within keyword pairs, p < 0.05 after the Holm correction over the"
    " words shown)."
)
