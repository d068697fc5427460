import de.jplag.JPlag;
import de.jplag.JPlagComparison;
import de.jplag.java.JavaLanguage;
import de.jplag.options.JPlagOptions;
import java.io.File;
import java.util.Set;

/** Prints the average similarity of all pairs of submissions in a folder; the second argument is the base code. */
class JPlagPairs {
    public static void main(String[] arguments) throws Exception {
        JPlagOptions options = new JPlagOptions(new JavaLanguage(), Set.of(new File(arguments[0])), Set.of());
        if (arguments.length > 1) options = options.withBaseCodeSubmissionDirectory(new File(arguments[1]));
        for (JPlagComparison pair : JPlag.run(options).getAllComparisons())
            System.out.println(pair.firstSubmission().getName() + "\t" + pair.secondSubmission().getName() + "\t" + pair.similarity());
    }
}
