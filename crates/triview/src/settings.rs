//! Every constant that moves a printed number, with the experiment that set it. What only bounds memory, or how much one thread works on at
//! a time, stands where it is used.

/// The most classes for which the `k^3` cells of the third moment are kept.
pub(crate) const MOST_CLASSES: usize = 64;

/// The fewest rows that are answered for so many classes, or states.
pub(crate) fn rows_needed(k: usize) -> u64 {
    (30 * k as u64).max(200)
}

/// Weights of the variants of an answer fall with this power of their standard errors. A hard choice flipped with the order of rows in 3 of
/// 20 draws and moved the risk by up to 0.9 standard errors; the blend moves it by at most 0.31 in the same draws.
pub(crate) const BLEND_POWER: i32 = 8;

pub(crate) mod pull {
    //! How strongly class means of many classes are drawn to those under the calibrated posterior, times `k^2 / n`.
    //!
    //! Too weak a pull leaves errors that add up to too large a risk, too strong a one takes the model at its word. Where it
    //! is least wrong differs: on 200 classes and 200,000 rows the error was 10.8, 6.4 and 1.5 labelled standard errors
    //! for 4, 20 and 200; on 100 classes, 50,000 rows and a model twice as wrong -5.2, -7.9 and -10.0. So the answer
    //! for [`WEAK`] counts as a doubt in its standard error.

    pub(crate) const STRONG: f64 = 100.0;
    /// About the strength under which the class means themselves have the smallest mean square error: the variance of a
    /// coordinate, about `k / (0.4 n)` in whitened features, over the squared distance from the centre, about `0.7 / k`.
    pub(crate) const WEAK: f64 = 4.0;
}

pub(crate) mod shrinkage {
    //! How far an answer is taken towards one that is quieter and may be biased.
    //!
    //! Of a difference `d` with the standard error `s` the share `d^2 / (d^2 + c s^2)` is believed (`answer::share_believed`), for the risk
    //! and for metrics. Chains have another rule, `(1 - 9 s^2 / d^2)_+` ([`chain_labels::SURE`](super::chain_labels::SURE)): their labels
    //! differ from the posterior by the error of both in common, and a share of every difference would take it in; on ten states the RMSE
    //! of the risk was 1.27 labelled standard errors with the first rule, and 0.83 with this.

    /// `c` for the risk. On populations 300 to 371 the RMSE in labelled standard errors is 3.16, 3.16, 3.25 and 3.47 with 0, 1, 2 and 4
    /// (`three-harder`) and 3.13, 2.72, 2.61 and 2.55 (`three`); on 100 to 123 it is 3.43, 2.98, 2.76 and 2.50 (`six`). With two classes,
    /// where the posterior is off by 7 to 20, any constant made it worse (2.80, 3.15, 3.51, 4.20): nothing is shrunk there.
    pub(crate) const CAUTION: f64 = 2.0;
    /// `c` where there are more latent states than classes, whose labels are far noisier: with it, and the sieve of [`super::states`], answers
    /// were within 5 labelled standard errors in 20 of 20 populations, where 16 were before.
    pub(crate) const CAUTION_OF_STATES: f64 = 16.0;
    /// The power of the share that errors of the difference count with: the mean of zero, as if the posterior said nothing, and one half, as
    /// if its own error were known to be of the size of `d`.
    pub(crate) const ERROR_POWER: f64 = 0.25;
    /// How far the correction of a metric by triples must stand out of its error to be believed by half, squared. With 0, 1 and 4 the error of
    /// the error rate was 0.0055, 0.0052, 0.0054 on the preset `two`, 0.0033, 0.0033, 0.0039 on `three` and 0.0030, 0.0029, 0.0029 on `six`.
    pub(crate) const METRICS_CAUTION: f64 = 1.0;
}

pub(crate) mod limits {
    //! Where alarms begin.

    /// A class that has fewer rows than this by the fit is not identified.
    pub(crate) const FEWEST_OF_A_CLASS: f64 = 5.0;
    /// Fewer rows than this, and than this share of all, that make up the squares of a heavy-tailed loss leave nothing to go by. Terms
    /// whose number beyond `t` falls with `t^-2`, which is where the variance becomes infinite, have some 60 of 20,000 rows, and with
    /// `t^-2.5` some 800.
    pub(crate) const FEWEST_CARRYING: f64 = 800.0;
    pub(crate) const SMALLEST_SHARE_CARRYING: f64 = 0.04;
    /// Standard errors by which a risk must be below the smallest possible loss.
    pub(crate) const BELOW_POSSIBLE: f64 = 2.0;
    /// Standard errors by which two estimates of the same risk must differ.
    pub(crate) const DISAGREEMENT: f64 = 4.0;
    /// Standard errors by which the best naming must lead the second-best.
    pub(crate) const GAP: f64 = 2.0;
    /// A block of rows that makes up more than this share of the squared standard error holds something enormous; of 64
    /// blocks of like rows the largest makes up a sixth. Fewer blocks than this are not compared.
    pub(crate) const LARGEST_BLOCK: f64 = 0.5;
    pub(crate) const FEWEST_BLOCKS_COMPARED: usize = 16;
    /// Two optima fit equally well when `2 n` times the difference of their squared distances, which is of the order of
    /// a chi-squared variable, is no larger than this, and say something else when their risks differ by so many standard errors.
    pub(crate) const EQUAL_FIT: f64 = 6.0;
    pub(crate) const OTHER_OPTIMUM: f64 = 2.0;
    /// An interval wider than this many times the larger of the risk and what scores that say nothing would cost (`ln k` for the log loss) is
    /// of no use: it cannot tell a model from a guess. One that was 478 times as wide as the labels' was once called trusted; those of the
    /// presets of `triview simulate` with 20,000 rows are at most 0.13 times as wide.
    pub(crate) const WIDEST: f64 = 2.0;
    /// A standard error of more than this many times the same is not known: 1e13 and 1e27 have come out where a system was singular, and no
    /// number of digits of them means anything.
    pub(crate) const UNKNOWN_ERROR: f64 = 1e4;
}

pub(crate) mod metrics {
    //! How metrics of the whole prediction are tallied.

    /// Bins of the prediction's confidence, of equal width.
    pub(crate) const CONFIDENCES: usize = 15;
    /// Bins of a class's probability, of about equally many rows.
    pub(crate) const PROBABILITIES: usize = 256;
    /// Standard errors of their difference beyond which the two ways of estimating disagree.
    pub(crate) const DISAGREEMENT: f64 = 3.0;
    /// Standard errors by which the posterior must be wrong less often than the model to be called better. It is the best prediction of all under itself, which
    /// makes small differences look larger than they are: beyond two errors it was said of one in eight models that were the best already.
    pub(crate) const BETTER: f64 = 3.0;
    /// The share of the model's errors that the posterior must be without.
    pub(crate) const LEAST_GAIN: f64 = 0.1;
    /// Rows that a bin of confidence needs to be shown: of fewer next to nothing is known.
    pub(crate) const FEWEST_OF_A_BIN: f64 = 20.0;
    /// How far the probabilities of a row may be from adding up to one: of a hundred classes rounded to three decimals the sum is off by 0.003 or so.
    pub(crate) const PREDICTION_ROUNDING: f64 = 0.02;
    /// How much further than its error rate the log loss of a prediction is taken to be off.
    pub(crate) const LOG_LOSS_OF_ERRORS: f64 = 2.0;
    /// The smallest probability of a prediction whose logarithm is taken, as of views that are given as probabilities.
    pub(crate) const SMALLEST_PROBABILITY: f64 = 1e-15;
    /// Times that each view is brought to its margins.
    pub(crate) const MARGIN_ROUNDS: usize = 4;
    /// The least that the rows of a class in a bin of a view may add up to, as a share of what the posterior says: labels add up to less than nothing by chance.
    pub(crate) const LEAST_SHARE: f64 = 0.05;
    /// Shares of a class's rows, by how likely a view finds the class, at which bins of it end. What a prediction gets wrong lies mostly where a view finds
    /// the true class unlikely: there the bins are finest.
    pub(crate) const CLASS_SHARES: [f64; 11] =
        [0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.25, 0.4, 0.6, 0.8, 0.9];
}

pub(crate) mod temperature {
    //! How sharp fitted posteriors are made.

    /// Logarithms of the inverse temperature between which the best is sought.
    pub(crate) const RANGE: [f64; 2] = [-1.5, 1.0];
    /// Steps of the golden section.
    pub(crate) const STEPS: usize = 12;
    /// Rows that the likelihood is taken over, at the most.
    pub(crate) const MOST_ROWS: usize = 4096;
}

pub(crate) mod planning {
    //! What a first look asks for.

    /// Rows that a latent state must have on average.
    pub(crate) const ROWS_A_STATE: usize = 30;
    /// The most covariates of a group of views: third moments of them and the scores are formed on a first look.
    pub(crate) const MOST_COVARIATES: usize = 32;
}

pub(crate) mod witness {
    //! How the values of a column without scores are told apart.

    /// The most values that are told apart: third moments of their indicators are formed.
    pub(crate) const MOST_VALUES: usize = 32;
    /// The smallest share of the rows that a value is told apart with. Of few rows neither a class mean nor its error is known.
    pub(crate) const RAREST: f64 = 0.005;
    /// So many labels show whether a witness is a copy of them: a witness that is wrong once in a hundred rows is in all of them right once
    /// in 150 times.
    pub(crate) const LABELS_COMPARED: usize = 500;
    /// How many bins more numbers than [`MOST_VALUES`] are cut into.
    pub(crate) const BINS: usize = 12;
    /// The most values that are counted.
    pub(crate) const MOST_COUNTED: usize = 1 << 20;
    /// The most numbers that quantiles are taken of.
    pub(crate) const MOST_KEPT: usize = 1 << 16;
}

pub(crate) mod first_look {
    //! What a first look at the rows takes in.

    /// The most rows that are looked at; feature maps have far fewer parameters.
    pub(crate) const MOST_ROWS: usize = 32_768;
    /// The most scores that are looked at: 128 megabytes, all the rows of eight views of 64 classes.
    pub(crate) const MOST_SCORES: usize = 1 << 24;
}

pub(crate) mod blocks {
    //! How rows are dealt to blocks.

    /// Rows are dealt to the blocks in runs of this many, round-robin: a sorted table must not make blocks
    /// unlike each other, and short tables must still reach every block.
    pub(crate) const RUN: u64 = 8;
}

pub(crate) mod tails {
    //! Where the terms of a heavy-tailed loss are cut.

    /// Rows of the class that are below the ceiling.
    pub(crate) const SHARE: f64 = 0.9997;
}

pub(crate) mod softmax {
    //! Softmax features.

    /// Below one the softmax is sharper than the standardised scores; 0.6 did best on images at k = 10.
    pub(crate) const TEMPERATURE: f64 = 0.6;
}

pub(crate) mod bins {
    //! The bins that the assumption is tested on.

    /// Bins for each latent state, at least, where there are more of them than classes.
    pub(crate) const BINS_A_STATE: usize = 2;
    /// Up to so many features are cut into four.
    pub(crate) const FINELY_CUT: usize = 4;
    /// A fitted chance of a bin may be below zero; smaller ones than this count as this.
    pub(crate) const SMALLEST_CHANCE: f64 = 1e-3;
}

pub(crate) mod sieve {
    //! The likelihood of posteriors.

    /// Weight of `1/2 (log mean(q_vj) - log omega_j)^2`. The likelihood hardly minds by what factor a class's `q_vj`
    /// is small; a posterior's mean is the prior, which this holds it to.
    pub(crate) const CALIBRATION: f64 = 1.0;
}

pub(crate) mod posteriors {
    //! Posteriors of classes by maximum likelihood.

    /// Ridge functions of the sieve's basis for each view.
    pub(crate) const RIDGES: usize = 18;
    /// Penalty on the sieve's squared weights, beside the mean log likelihood.
    pub(crate) const PENALTY: f64 = 1e-3;
    /// Scores of a view on which starts of the sieve's maximisation are tried, and the fewest rows of them.
    pub(crate) const TRIAL_SCORES: usize = 40_960;
    pub(crate) const TRIAL_ROWS: usize = 4_096;
    /// Iterations of the sieve's maximisation from each start, before the better one goes on.
    pub(crate) const TRIAL_ITERATIONS: usize = 12;
    /// Iterations of the sieve's maximisation: features need not be at the maximum to be good.
    pub(crate) const ITERATIONS: usize = 30;
}

pub(crate) mod states {
    //! Posteriors of more latent states than classes.

    /// Ridge functions of the sieve's basis for each view: states differ in more ways than classes.
    pub(crate) const RIDGES: usize = 60;
    /// The penalty on the sieve's squared weights is so much over the number of rows. States are narrow and lie close, and what
    /// tells them apart are steep posteriors, which a larger penalty makes flat.
    pub(crate) const PENALTY: f64 = 2.0;
    /// Clusterings of all rows, and as many within each class, that the likelihood is climbed from.
    pub(crate) const STARTS: usize = 2;
    /// Attempts at each clustering, of which the tightest counts: a single one often takes two clusters for one.
    pub(crate) const ATTEMPTS: usize = 10;
    /// Iterations of the maximisation from the best start.
    pub(crate) const ITERATIONS: usize = 200;
    /// Rows that clusters are found from.
    pub(crate) const CLUSTERED_ROWS: usize = 8192;
}

pub(crate) mod discriminant {
    //! Linear discriminants.

    /// The least share of the variance that is taken to be within classes.
    pub(crate) const LEAST_WITHIN: f64 = 1e-4;
}

pub(crate) mod calibrated {
    //! Posteriors of many classes.

    /// Iterations of the calibration: features need not be at its optimum to be good.
    pub(crate) const ITERATIONS: usize = 15;
}

pub(crate) mod whitening {
    //! Coordinates of the fit.

    /// Two views whose features correlate beyond this in some direction are taken to be copies.
    pub(crate) const COPY_CORRELATION: f64 = 1.0 - 1e-9;
}

pub(crate) mod power {
    //! The tensor power method.

    /// Starts for each component: enough that a component is missed in fewer than one in a thousand fits.
    pub(crate) const STARTS: usize = 30;
    /// Power iterations from each start; convergence is quadratic.
    pub(crate) const ITERATIONS: usize = 40;
}

pub(crate) mod refinement {
    //! The fit to the moments.

    /// L-BFGS stops here: the gradient of whitened moments is of the order of one away from a minimum.
    pub(crate) const COARSE_GRADIENT: f64 = 1e-6;
    /// Newton's steps go on until here, which fixes the risk to 1e-9 whatever order the sums were made in.
    pub(crate) const FINE_GRADIENT: f64 = 1e-12;
    /// L-BFGS iterations at the most; ill-conditioned fits need some hundreds.
    pub(crate) const MOST_ITERATIONS: usize = 500;
    /// Steps of a refit. Leaving out one block of 64 moves the solution little, and the curvature hardly: the
    /// second step corrects the first by some hundredths of it.
    pub(crate) const REFIT_STEPS: usize = 2;
    /// Two starts lead to the same minimum where the class means of their ends differ by no more than this share of their size.
    pub(crate) const SAME: f64 = 1e-3;
}

pub(crate) mod newton {
    //! Newton's method.

    /// Conjugate gradient steps for one Newton step, at the most.
    pub(crate) const MOST_INNER: usize = 200;
    /// Up to so many unknowns the second derivative of squares is formed and factored: 36 classes, and 130 MB. That of the Kullback-Leibler
    /// distance, for which conjugate gradients converge slowly, is at any number: 1.2 GB for 64 classes, the most.
    pub(crate) const MOST_FACTORED: usize = 4_000;
    /// A factor that takes more conjugate gradient steps than this to solve at another point is made anew.
    pub(crate) const STALE: usize = 8;
}

pub(crate) mod implicit {
    //! The fit without third moments.

    /// The gradient vanishes when its entries are this fraction of what they are by sampling alone: every look at it is a
    /// reading of all rows, and nothing is gained by more.
    pub(crate) const OF_SAMPLING: f64 = 0.01;
    /// Readings at the most.
    pub(crate) const MOST_ITERATIONS: usize = 40;
}

pub(crate) mod surrogates {
    //! Surrogate labels.

    /// A view's weight never exceeds that of a label with this much noise.
    pub(crate) const SMALLEST_NOISE: f64 = 1e-3;
}

pub(crate) mod independence {
    //! The test of independence.

    /// Below this p-value the views are taken to be dependent.
    pub(crate) const LEVEL: f64 = 0.05;
    /// With fewer blocks there are too few signs to draw.
    pub(crate) const FEWEST_BLOCKS: usize = 8;
    /// Random signs that the p-value of the whole test rests on.
    pub(crate) const FLIPS: usize = 999;
}

pub(crate) mod causes {
    //! What views have in common.

    /// A share of hard rows is missed by the test about half the time where it is so many of its standard errors.
    pub(crate) const HALF_SEEN: f64 = 2.0;
    /// No more rows than these are taken to be hard unseen.
    pub(crate) const LARGEST_SHARE: f64 = 0.5;
    /// The share of the squared misfit that must be in the direction of rows that are hard in all views for the risk to be a bound. Of 193 rejected draws of
    /// 26 settings, seven of them with noise that two or all views share and three with near copies, in which that cause was seen, the bound held in 172; in 120 of the 125 with at least a tenth of
    /// the misfit, and in 52 of the 68 others.
    pub(crate) const LEAST_OF_THE_MISFIT: f64 = 0.1;
}

pub(crate) mod dependence {
    //! Which views depend on each other.

    /// Random signs that each line rests on.
    pub(crate) const FLIPS: usize = 499;
}

pub(crate) mod pair_moments {
    //! The test of many classes.

    /// The share of the variance of residuals, at the most, that may be due to the error of their slopes: random signs do not see it.
    /// With 0.12 independent views were rejected at the level 0.05 in 4.3% of 600 draws, with 0.4 in 8.3%, with 0.7 in 10% of 300.
    pub(crate) const MOST_SHAKEN: f64 = 0.5;
    /// Residuals that are smaller than noise by this factor, squared, are rounding: the bins are functions of the features.
    pub(crate) const ROUNDING: f64 = 1e-9;
}

pub(crate) mod conditioning {
    //! How hard the problem is.

    /// The weakest direction that the classes need must stand so many times above what chance would show.
    pub(crate) const CLEAR: f64 = 1.5;
}

pub(crate) mod triples {
    //! Triples of rows.

    /// Triples that are drawn by the posterior, and as many again for each view.
    pub(crate) const DRAWS: usize = 1 << 15;
    /// Rounds in which the product of a model's own probabilities is brought to the fitted prior. Without them three calibrated views of a prior of 0.9 and
    /// 0.1 had a posterior that counts it three times, and a true error rate of 0.056 came out as 0.039 +- 0.002.
    pub(crate) const SCALINGS: usize = 30;
    /// The most that a class of such a product is multiplied or divided by: of some classes a model says nothing that is ever true.
    pub(crate) const MOST_SCALE: f64 = 1e6;
    /// Parts of the rows that the standard errors rest on: sums over triples are made once more without each of them.
    pub(crate) const PARTS: usize = 16;
}

pub(crate) mod grouping {
    //! How more than three views are grouped.

    /// Up to so many sets of views every way of grouping them is compared: 966 ways for eight.
    pub(crate) const MOST_COMPARED: usize = 8;
    /// Beyond that, so many ways are drawn.
    pub(crate) const DRAWN: usize = 200;
    /// Other ways that are solved for comparison.
    pub(crate) const OTHERS: usize = 3;
    /// They may fall short of the balance of the best by this factor: a group that says little makes a poor comparison.
    pub(crate) const LESS_BALANCED: f64 = 4.0;
}

pub(crate) mod many_classes {
    //! From when on, and up to where, rows are kept instead of third moments.

    /// From so many classes on an estimate is made from rows.
    pub(crate) const FEWEST_CLASSES: usize = 65;
    /// Sums of the second moments of 32 blocks take 2.4 GB for so many classes.
    pub(crate) const MOST_CLASSES: usize = 512;
    /// The most bytes of features that are kept: 1,789,569 rows of 200 classes.
    pub(crate) const MOST_BYTES: u64 = 4 << 30;
}

pub(crate) mod few_labels {
    //! A few labels.

    /// What is imputed counts where the slope of losses by it is so many standard errors above zero.
    pub(crate) const TOLD: f64 = 2.0;
    /// Labels that a mean of losses takes, times their squared skewness (Cochran). Where both of two answers had a chance to come first whatever the
    /// skewness, the first of 20 labels of three dependent classifiers held the log risk in 83%; with this in 90%.
    pub(crate) const LABELS_OF_SKEWNESS: f64 = 25.0;
    /// No probability of a class counts as smaller: one label alone contradicts nothing.
    pub(crate) const SMALLEST: f64 = 1e-3;
    /// Logarithm of the odds by which labels confirm the names of the classes.
    pub(crate) const CONFIRMED: f64 = 3.0;
    /// Logarithm of the odds by which they contradict them.
    pub(crate) const CONTRADICTED: f64 = 10.0;
    /// Standard errors by which two estimates of the same risk must differ.
    pub(crate) const DISAGREEMENT: f64 = 3.0;
    /// Chance of a false alarm of labelled rows that are unlike the others.
    pub(crate) const UNLIKE: f64 = 1e-3;
    /// Blocks that the error of a mean over all rows rests on; rows that depend on each other are in one.
    pub(crate) const BLOCKS: usize = 64;

    pub(crate) mod recalibration {
        //! Posteriors that labels recalibrate.

        /// One over the variance of `a` and `b` before labels are seen. Of 20 labels of three dependent classifiers the error of the error
        /// rate was 0.70 of that of the labels alone with 1, and 0.59 with 4; of 100 labels 0.78 and 0.75.
        pub(crate) const PRECISION: f64 = 4.0;
        /// How far a recalibrated posterior is doubted, in standard deviations of the loss. With 0.1 intervals of the error rate were 0.8 times as wide as
        /// those of 20 labels alone, with 0.05 0.69.
        pub(crate) const DOUBT: f64 = 0.05;
        /// Standard errors by which the labelled residuals must be off for the labels to speak against a recalibrated posterior.
        pub(crate) const CONTRADICTED: f64 = 2.0;
        /// Parts of the labels that are left out in turn to choose what to recalibrate.
        pub(crate) const FOLDS: usize = 5;
        /// No probability counts as smaller.
        pub(crate) const SMALLEST: f64 = 1e-12;
        /// Where the fit ends.
        pub(crate) const GRADIENT: f64 = 1e-6;
        pub(crate) const ITERATIONS: usize = 200;
    }
}

pub(crate) mod soft_map {
    //! The soft map from latent states to classes.

    /// Steps of the maximisation.
    pub(crate) const STEPS: usize = 200;
    /// Groups of labels that are left out in turn for the standard error.
    pub(crate) const FOLDS: usize = 20;
}

pub(crate) mod sequences {
    //! Which sequences and tokens are looked at.

    /// The most tokens of the sequences that a model is adapted to.
    pub(crate) const MOST_TOKENS: usize = 1 << 18;
    /// The most tokens of those that states are identified from to begin with.
    pub(crate) const MOST_LOOKED_AT: usize = 1 << 16;
    /// The fewest tokens of a sequence that has a token with a past and a future.
    pub(crate) const FEWEST_TOKENS: usize = 3;
    /// Sequences that have a token with a past and a future at a position, at the least for each state, where positions are identified by
    /// themselves.
    pub(crate) const FEWEST_AT_A_POSITION: u64 = 50;
    /// The most tokens that are left out at either end of a sequence when tokens are identified: messages have settled by then.
    pub(crate) const MARGIN: usize = 3;
    /// No message says less than this of a state, relative to its likeliest: identification needs what is bounded.
    pub(crate) const FLOOR: f64 = -30.0;
    /// A state that fewer tokens than this are in is not told apart from the others.
    pub(crate) const FEWEST_OF_A_STATE: f64 = 5.0;
    /// The largest share of all tokens that such states, and those that are too rare for all to be identified, may have to be taken as one with the
    /// next rarest.
    pub(crate) const MOST_POOLED: f64 = 0.01;
    /// The smallest share of a state in such a pool.
    pub(crate) const SMALLEST_SHARE: f64 = 1e-6;
    /// Standard errors by which a risk must be below zero, or forbidden transitions above it.
    pub(crate) const BEYOND_POSSIBLE: f64 = 2.0;
    /// The smallest share of forbidden transitions that counts.
    pub(crate) const SOME: f64 = 1e-3;
}

pub(crate) mod chain_labels {
    //! What labels say of chains beyond the posterior.

    /// States with a smaller posterior than this, by the token alone, count less than fully in what past and future have to label:
    /// labels that are right on average only are noise there, and what they label is large.
    pub(crate) const UNLIKELY: f64 = 0.03;
    /// How wrong the posterior of unlikely states may be, as a share: what rests on it alone is in doubt by as much.
    pub(crate) const DOUBT: f64 = 0.2;
    /// Labels correct the posterior where they differ from it by more than so many standard errors of the difference.
    pub(crate) const SURE: f64 = 3.0;
    /// How far a correction must stand out of its error to be believed by half where a model begins to be adapted, squared.
    pub(crate) const CAUTION: f64 = 4.0;
}

pub(crate) mod chain_fit {
    //! The model that sequences suggest.

    /// No probability of the adapted model is smaller than this.
    pub(crate) const SMALLEST: f64 = 1e-6;
    /// Of so many sequences one is kept from the fit, and tells how sharp its posteriors should be.
    pub(crate) const HELD_OUT: usize = 6;
    /// Penalties on the squared weights of posteriors, beside the mean log likelihood of a token: of the first maximisation, which
    /// stops early, and, over the number of states, of the second.
    pub(crate) const RIDGE: f64 = 3e-5;
    pub(crate) const RIDGE_OF_STATES: f64 = 6e-4;
    /// Tokens of the first, by L-BFGS over all of them at once, and its iterations.
    pub(crate) const FIRST_TOKENS: usize = 49_152;
    pub(crate) const ITERATIONS: usize = 60;
    /// Ridge functions of the posteriors where there is a second.
    pub(crate) const RIDGES: usize = 48;
    /// There is a second only where there are so many times as many tokens: with fewer it fits them too well.
    pub(crate) const ENOUGH: usize = 2;
    /// Steps of the second, times the number of states, and how many they are at the least and at the most.
    pub(crate) const STEPS_OF_STATES: usize = 15_000;
    pub(crate) const STEPS: [usize; 2] = [1500, 3000];
    /// Tokens of one, at the most; fewer where a step would be more than this share of all.
    pub(crate) const STEP_TOKENS: usize = 4096;
    pub(crate) const STEP_SHARE: usize = 32;
    /// How much of the running averages over tokens each step replaces.
    pub(crate) const RENEWED: f64 = 0.05;
    /// So often on the way the sequences that were kept apart are asked.
    pub(crate) const LOOKS: usize = 6;
}

pub(crate) mod adam {
    //! Stochastic steps.

    /// How far a coordinate moves in a step, at the most.
    pub(crate) const RATE: f64 = 0.02;
    /// The share of the steps over which the rate rises: at first the running sizes of slopes rest on a few of them.
    pub(crate) const RISE: f64 = 0.1;
    /// How much of the running means of slopes, and of their squares, a step keeps.
    pub(crate) const KEPT: [f64; 2] = [0.9, 0.99];
}

pub(crate) mod votes {
    //! The crowd behind votes.

    /// Votes for each class that are added to every annotator's in the confusion matrices that are shown: enough to make what was
    /// never seen possible. More of them make better labels, but hide what an annotator's own votes say.
    pub(crate) const SHOWN: f64 = 1.0;
    /// The share of the correction for posteriors that confirm themselves, and of how far the class priors of EM and of the moments
    /// are apart, that the error rate may be off by: on simulated crowds it was, by up to so much.
    pub(crate) const DOUBT: f64 = 0.15;
    /// A class with fewer items than this is not told apart.
    pub(crate) const FEWEST_OF_A_CLASS: f64 = 5.0;
    /// Items with three votes or more that are needed for each cell of a confusion matrix.
    pub(crate) const ITEMS_PER_CELL: usize = 5;
    /// Two ends of EM are equally likely when their objectives differ by no more than this.
    pub(crate) const EQUAL_FIT: f64 = 3.0;
    /// Standard errors by which the best naming must lead the second-best, and two error rates must differ.
    pub(crate) const ERRORS: f64 = 2.0;
}

pub(crate) mod em {
    //! Expectation maximisation over votes.

    /// No probability is smaller than this, so that no item is ever impossible.
    pub(crate) const FLOOR: f64 = 1e-30;
    /// Two crowds under which no more of the votes than this change their class are on the way to the same end.
    pub(crate) const SAME: f64 = 1e-3;
}

pub(crate) mod left_out {
    //! Posteriors that do not confirm themselves.

    /// Rounds at the most.
    pub(crate) const ROUNDS: usize = 20;
    /// A round that changes the mean of the largest posteriors by less is the last.
    pub(crate) const CHANGE: f64 = 2e-4;
}

pub(crate) mod vote_jackknife {
    //! What votes say without a group of items.

    /// Steps from the whole crowd to that without a group.
    pub(crate) const STEPS: usize = 2;
    /// Items that the change of the posteriors is seen on, at the least, where there are more.
    pub(crate) const SEEN: usize = 20_000;
}

pub(crate) mod vote_pairs {
    //! Pairs of annotators.

    /// Items that two annotators must share.
    pub(crate) const FEWEST_SHARED: usize = 20;
    /// The least variance of their agreements for its sum to be near normal.
    pub(crate) const LEAST_VARIANCE: f64 = 5.0;
    /// Pairs of votes on an item that are looked at in all, at the most; items are left out evenly where there are more.
    pub(crate) const MOST_MEETINGS: usize = 20_000_000;
}

pub(crate) mod agreement {
    //! What annotators have in common.

    /// Classes of an item that are less likely than this do not count for the effective number of voters.
    pub(crate) const LEAST: f64 = 1e-3;
    /// How many times as much as pairs do on average two must agree beyond what independent ones would.
    pub(crate) const BEYOND: f64 = 2.0;
}

pub(crate) mod gold {
    //! Items whose class is known.

    /// A normal distribution.
    pub(crate) struct Normal {
        pub(crate) mean: f64,
        pub(crate) deviation: f64,
    }

    /// What the logarithm of the power of posteriors is before gold is seen: those of real crowds are too sure of themselves.
    pub(crate) const POWER: Normal = Normal { mean: -0.7, deviation: 1.0 };
    /// Where it is looked for, in how many steps, and how far apart its density is compared to see how sharp it is.
    pub(crate) const RANGE: [f64; 2] = [-5.0, 1.5];
    pub(crate) const STEPS: usize = 40;
    pub(crate) const STEP: f64 = 0.05;
    /// What the recalibrated error rate may be off by, whatever the gold says.
    pub(crate) const DOUBT: f64 = 0.05;
    /// Items that the share of wrong gold is drawn towards the recalibrated one by, for its variance.
    pub(crate) const PRIOR_ITEMS: f64 = 4.0;
    /// Standard errors by which other names must be right more often on gold.
    pub(crate) const ERRORS: f64 = 2.0;
    /// Gold items without which an answer rests on next to nothing but the votes.
    pub(crate) const FEWEST: usize = 10;
}

pub(crate) mod labels {
    //! What is said of each item.

    /// The share of items that annotators are taken to half guess on.
    pub(crate) const HARD: f64 = 0.1;
}

pub(crate) mod omnibus {
    //! The test of all annotators at once.

    /// Crowds that are drawn.
    pub(crate) const DRAWS: u64 = 30;
    /// With fewer annotators than this next to nothing is left to test with.
    pub(crate) const FEWEST_ANNOTATORS: usize = 4;
    /// The share of votes on a hard item that are guesses.
    pub(crate) const GUESSED: f64 = 0.7;
    /// No item counts for more than this in the score: a few must not rule it.
    pub(crate) const CAP: f64 = 20.0;
    /// Steps of EM from the fitted crowd to that of votes that were drawn.
    pub(crate) const STEPS: usize = 10;
    /// Votes that are looked at, at the most; items are left out evenly where there are more.
    pub(crate) const MOST_VOTES: usize = 30_000;
    /// Confusion matrices may have so many cells in all for crowds to be drawn side by side.
    pub(crate) const MOST_CELLS: usize = 1 << 20;
    /// No cell of a confusion matrix is drawn from fewer votes.
    pub(crate) const LEAST_COUNT: f64 = 1e-3;
}

pub(crate) mod spectral {
    //! The start from three blocks of annotators.

    /// Items that moments are taken from at the most, and that annotators are read off from: EM goes on with all.
    pub(crate) const MOST_ITEMS: usize = 50_000;
    /// Items that all three blocks must vote on for each number that a block's view of the classes has.
    pub(crate) const ITEMS_PER_NUMBER: usize = 5;
    /// With more classes than this their third moment costs more than the start is worth.
    pub(crate) const MOST_CLASSES: usize = 32;
}

pub(crate) mod annotators {
    //! Intervals of annotators.

    /// With more classes than this every item's class is taken to be known, and a column's variances are those of a share of its
    /// votes: the inverses would take longer than the fit.
    pub(crate) const MOST_CLASSES: usize = 32;
    /// No number rests on fewer trials than this, however little is known.
    pub(crate) const LEAST: f64 = 0.01;
}

pub(crate) mod adaptation {
    //! Adaptation to rows without labels.

    /// The fewest rows a class that are judged, and the fewest rows: quarters of them must be answered. With 640 rows of ten classes
    /// error rates of 0.02 to 0.05 came out as 0.02 to 1.
    pub(crate) const ROWS_A_CLASS: usize = 150;
    pub(crate) const ROWS: usize = 1_000;
    /// How many steps there are.
    pub(crate) const STEP_COUNT: usize = 60;
    /// Fits in a row whose risk is larger than the smallest so far, after which no further ones with the same share are tried.
    pub(crate) const PATIENCE: usize = 2;
    /// The fewest rows of known class that decide whether an adapted model is better: the spread of fewer is hardly known.
    pub(crate) const LABELS: usize = 20;
    /// Where the views cannot be relied on, a model that labels like better than the seed, but not beyond chance, is taken where its log risk is
    /// larger by no more than this, with this confidence.
    pub(crate) const NO_WORSE: f64 = 0.05;
    pub(crate) const NO_WORSE_LEVEL: f64 = 0.9;
    /// How many of its squared relative standard errors the variance of a feature is increased by, for rows that were not seen: by a tenth where a tenth of
    /// 10,000 rows show it, a hundredfold where one does.
    pub(crate) const UNSEEN: f64 = 100.0;
    /// The largest share of the rows that judge by their labels, and are kept out of the fits.
    pub(crate) const MOST_JUDGING: f64 = 0.2;
    /// Folds of the labelled rows: which model is judged in one is decided by the others.
    pub(crate) const FOLDS: usize = 5;
    /// Penalties on half the squared norm that are tried, each leading to a radius, from the strongest on.
    pub(crate) const PENALTIES: [f64; 6] = [0.3, 0.1, 0.03, 0.01, 0.003, 0.001];
    /// Shares of the old domain's rows that are tried.
    pub(crate) const SHARES: [f64; 5] = [0.0, 0.1, 0.3, 0.6, 0.9];
    /// First steps of dual averaging that are tried, as shares of the seed's length.
    pub(crate) const STEPS: [f64; 6] = [0.003, 0.01, 0.03, 0.1, 0.3, 1.0];
}

pub(crate) mod ball {
    //! Minimisation in a ball.

    /// The most iterations between two looks at the gap.
    pub(crate) const ITERATIONS: usize = 100;
    /// Looks at the gap before a penalty is given up on.
    pub(crate) const LOOKS: usize = 10;
    /// Penalties that are tried for one radius.
    pub(crate) const PENALTIES: usize = 30;
    /// Passes over the rows for one penalty or one radius, after which a fit ends where it is.
    pub(crate) const PASSES: usize = 3_000;
    /// The strongest and the weakest penalty that are tried for a radius.
    pub(crate) const STRONGEST: f64 = 1e4;
    pub(crate) const WEAKEST: f64 = 1e-7;
    /// How much shorter or longer the best model on a ray may be than the penalised one, and the steps that find it.
    pub(crate) const SHORTEST: f64 = 0.2;
    pub(crate) const LONGEST: f64 = 20.0;
    pub(crate) const RAY_STEPS: usize = 12;
    /// A standard deviation below this share of the feature's largest value is rounding.
    pub(crate) const ROUNDING: f64 = 1e-6;
    /// How far above its smallest value the penalised loss may be left.
    pub(crate) const GAP: f64 = 1e-4;
}
