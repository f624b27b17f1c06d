//! Every constant that moves a printed number, with the experiment that set it.

/// The most classes for which the `k^3` cells of the third moment are kept.
pub(crate) const MOST_CLASSES: usize = 64;

/// The fewest rows that are answered for so many classes, or states.
pub(crate) fn rows_needed(k: usize) -> u64 {
    (30 * k as u64).max(200)
}

/// Weights of the variants of an answer fall with this power of their standard errors.
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

    pub(crate) const CAUTION: f64 = 2.0;
    pub(crate) const CAUTION_OF_STATES: f64 = 16.0;
    pub(crate) const ERROR_POWER: f64 = 0.25;
    /// How far the correction of a metric by triples must stand out of its error to be believed by half, squared.
    pub(crate) const METRICS_CAUTION: f64 = 4.0;
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
}

pub(crate) mod metrics {
    //! How metrics of the whole prediction are tallied.

    /// Bins of the prediction's confidence, of equal width.
    pub(crate) const CONFIDENCES: usize = 15;
    /// Bins of a class's probability, of about equally many rows.
    pub(crate) const PROBABILITIES: usize = 256;
}

pub(crate) mod temperature {
    //! How sharp fitted posteriors are made.

    /// Logarithms of the inverse temperature between which the best is sought.
    pub(crate) const RANGE: [f64; 2] = [-1.5, 1.0];
    /// Steps of the golden section.
    pub(crate) const STEPS: usize = 12;
}

pub(crate) mod planning {
    //! What a first look asks for.

    /// Rows that a latent state must have on average.
    pub(crate) const ROWS_A_STATE: usize = 30;
    /// The most covariates of a group of views: third moments of them and the scores are formed on a first look.
    pub(crate) const MOST_COVARIATES: usize = 32;
}
