"""The words of the report about method; each formula with its source."""

from core.errors import N_

METHOD = (
    (
        "Bias_c",
        N_(
            "= log10(p(male word) / p(female word)) at the masked keyword of a sentence (SlguSet paper, equation 1;"
            " after Kurita et al. 2019, whose measure divides each probability by a prior). The male word is always"
            " above. A word of several characters has one mask per "
            "character that differs; its probability is the product over the masks."
        ),
    ),
    (
        "Bias_man, Bias_woman, Model_bias",
        N_(
            "= the mean of the positive values, the mean size of the negative values, and the mean of these two "
            "(SlguSet paper, equations 2 and 3). With the denominator 'all' each sum is divided by "
            "all finite values (journal paper). A value of 0 belongs to neither side. ln = log10 × 2.3026; the paper's "
            "Table 4 fits ln only."
        ),
    ),
    (
        N_("Pair mass"),
        N_(
            "= p(male word) + p(female word). Where it is small the model would write another word, and the ratio says "
            "little about it."
        ),
    ),
    (
        N_("Prior-corrected"),
        N_("= Bias_c less the mean Bias_c of its keyword pair in the same model and data: what the context adds."),
    ),
    (
        N_("Variance"),
        N_(
            "= the shares of the variance of Bias_c between mask widths, between pairs of one width, and within a pair."
        ),
    ),
    (
        N_("Side AUC"),
        N_(
            "= the chance that, of two sentences of one pair, the one whose source had the male word has the larger "
            "Bias_c; pairs are pooled by their number of such twos. 0.5: the context tells the model nothing."
        ),
    ),
    (
        N_("Intervals"),
        N_(
            "95 %. Signed mean, side AUC and correlations: over all subsets of the stems of the word pairs (男/女 is "
            "the stem of seven pairs), since sentences of a pair share the lean of its words; fewer than 6 stems "
            "give none (docs/nulls.md). Bias_man, Bias_woman, Model_bias and mean size: t on the jackknife over "
            "sentences, or articles where the scores name them, above 400 on the spread of draws, on the logarithm "
            "(docs/coverage.md); these hold for other contexts of these word pairs only."
        ),
    ),
)
UNDEFINED = N_(
    "Undefined values (a missing probability, or 0 for both words) and infinite ones (0 for one word) are in no mean. "
    "They are counted here and never taken as 0."
)
WORDS = N_(
    "Of the sentences that lean obviously to one side, keywords left out. The weight says that a word is common on a "
    "side, not that the sides differ; an asterisk marks the words whose share differs between the sides "
    "(permutation within keyword pairs, below 0.05 after Holm's adjustment over the words shown)."
)
